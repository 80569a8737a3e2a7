/*
 * Doubly linked rings with a head. A head whose links name itself is an empty queue. The caller locks.
 */
#ifndef KIZAMI_QUEUE_H
#define KIZAMI_QUEUE_H

#include <t_stddef.h>

#ifndef TOPPERS_MACRO_ONLY

typedef struct queue {
	struct queue *p_next;
	struct queue *p_prev;
} QUEUE;

Inline void queue_initialize(QUEUE *p_queue)
{
	p_queue->p_prev = p_queue->p_next = p_queue;
}

/* Before p_queue: if that is the head, as the last entry. */
Inline void queue_insert_prev(QUEUE *p_queue, QUEUE *p_entry)
{
	p_entry->p_prev = p_queue->p_prev;
	p_entry->p_next = p_queue;
	p_queue->p_prev->p_next = p_entry;
	p_queue->p_prev = p_entry;
}

/* Behind p_queue: if that is the head, as the first entry. */
Inline void queue_insert_next(QUEUE *p_queue, QUEUE *p_entry)
{
	p_entry->p_next = p_queue->p_next;
	p_entry->p_prev = p_queue;
	p_queue->p_next->p_prev = p_entry;
	p_queue->p_next = p_entry;
}

Inline void queue_delete(QUEUE *p_entry)
{
	p_entry->p_prev->p_next = p_entry->p_next;
	p_entry->p_next->p_prev = p_entry->p_prev;
}

/* Takes the entry behind p_queue, which has one. */
Inline QUEUE *queue_delete_next(QUEUE *p_queue)
{
	QUEUE *p_entry = p_queue->p_next;
	assert(p_entry != p_queue);
	queue_delete(p_entry);
	return p_entry;
}

Inline bool_t queue_empty(const QUEUE *p_queue)
{
	if (p_queue->p_next == p_queue) {
		assert(p_queue->p_prev == p_queue);
		return true;
	}
	return false;
}

#endif /* TOPPERS_MACRO_ONLY */

#endif

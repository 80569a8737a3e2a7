/* A task that comes compiled, in an archive: its argument is the semaphore that it signals. */
#include <kernel.h>

void low_task(EXINF exinf)
{
	(void)sig_sem((ID)exinf);
}

/*
 * The types of the ITRON specification, generation 4, for programs that were written for it.
 */
#ifndef KIZAMI_ITRON_H
#define KIZAMI_ITRON_H

#include <t_stddef.h>

#ifndef TOPPERS_MACRO_ONLY

typedef int8_t B, VB;
typedef uint8_t UB;
typedef int16_t H, VH;
typedef uint16_t UH;
typedef int32_t W, VW;
typedef uint32_t UW;
typedef int64_t D, VD;
typedef uint64_t UD;
typedef void *VP;
typedef intptr_t VP_INT;
typedef int_t INT;
typedef uint_t UINT;
typedef bool_t BOOL;
typedef size_t SIZE;
typedef ulong_t OVRTIM;

#endif /* TOPPERS_MACRO_ONLY */

#define NADR ((void *)-1)

/* The names that values had. */
#define TTYP_NULL TA_NULL
#define TA_HLNG 0U
#define TA_TFIFO 0U
#define TA_MFIFO 0U
#define TA_WSGL 0U

#endif

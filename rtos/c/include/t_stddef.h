/*
 * Types, error codes and values of the ITRON specification, as TOPPERS has them.
 */
#ifndef KIZAMI_T_STDDEF_H
#define KIZAMI_T_STDDEF_H

#include <limits.h>
#ifndef TOPPERS_MACRO_ONLY
#include <stddef.h>
#include <stdint.h>

typedef int bool_t;
typedef int int_t;
typedef unsigned int uint_t;
typedef long long_t;
typedef unsigned long ulong_t;
typedef float float32_t;
typedef double double64_t;
typedef int_t FN, ER, ID, PRI, ER_BOOL, ER_ID, ER_UINT;
typedef uint_t ATR, STAT, MODE;
typedef uint32_t RELTIM, TMO, HRTCNT, PRCTIM;
typedef uint64_t SYSTIM;
typedef int32_t ADJTIM;
typedef intptr_t EXINF;
typedef void (*FP)(void);
#endif /* TOPPERS_MACRO_ONLY */

/* What a service gives. */
#define E_OK 0
#define E_SYS (-5)
#define E_NOSPT (-9)
#define E_RSFN (-10)
#define E_RSATR (-11)
#define E_PAR (-17)
#define E_ID (-18)
#define E_CTX (-25)
#define E_MACV (-26)
#define E_OACV (-27)
#define E_ILUSE (-28)
#define E_NOMEM (-33)
#define E_NOID (-34)
#define E_NORES (-35)
#define E_OBJ (-41)
#define E_NOEXS (-42)
#define E_QOVR (-43)
#define E_RLWAI (-49)
#define E_TMOUT (-50)
#define E_DLT (-51)
#define E_CLS (-52)
#define E_RASTER (-53)
#define E_WBLK (-57)
#define E_BOVR (-58)
#define E_COMM (-65)
#define ERCD(mercd, sercd) ((ER)((((uint_t)(sercd)) << 8) | (((uint_t)(mercd)) & 0xffU)))
#define MERCD(ercd) ((ER)((int8_t)(ercd)))
#define SERCD(ercd) ((ER)((ercd) >> 8))

/* What compilers are told. */
#ifndef Inline
#define Inline static __inline__
#endif
#ifndef NoReturn
#define NoReturn __attribute__((__noreturn__))
#endif
#ifndef UINT_C
#define UINT_C(val) (val##U)
#endif
#ifndef ULONG_C
#define ULONG_C(val) (val##UL)
#endif
#ifndef TOPPERS_MACRO_ONLY
extern void kernel_assert_failed(const char *expression, const char *file, int_t line) NoReturn;
#ifndef assert
#define assert(expression) ((void)((expression) ? 0 : (kernel_assert_failed(#expression, __FILE__, __LINE__), 0)))
#endif
#endif /* TOPPERS_MACRO_ONLY */

/* Other values. */
#define TA_NULL 0U
#define TMO_POL 0U
#define TMO_FEVR UINT32_MAX
#define TMO_NBLK (UINT32_MAX - 1U)
#define TMAX_RELTIM 4000000000U
#ifndef true
#define true 1
#endif
#ifndef false
#define false 0
#endif
#ifndef TOPPERS_NO_TRUE_FALSE
#define TRUE true
#define FALSE false
#endif

#endif /* KIZAMI_T_STDDEF_H */

/*
 * What a Cortex-M begins with after a reset, and what its Linux expects of whoever starts it (Documentation/arm/booting.rst):
 * interrupts off, r0 = 0, r1 = all ones (there is no machine number), r2 = the device tree; then the kernel, in Thumb.
 *
 * Addresses are of the link command: KERNEL, TREE, FILES to FILES_END in the flash; FILES_AT in memory; UART; STACK.
 */
	.syntax unified
	.cpu	cortex-m3
	.thumb
	.section .text

/* The table of vectors, of which only the first two are ever used: the kernel brings its own. */
	.word	STACK
	.word	reset + 1
	.rept	14
	.word	stuck + 1
	.endr

	.thumb_func
reset:
	cpsid	i
	/* The console has to send before the kernel's own driver is there: its early one waits for the transmitter for ever. */
	ldr	r0, =UART
	movs	r1, #16
	str	r1, [r0, #16]		/* BAUDDIV: the least that the port takes */
	movs	r1, #1
	str	r1, [r0, #8]		/* CTRL: transmit */

	/* The first file system has to be in memory: the kernel gives its place back when it has unpacked it. */
	ldr	r0, =FILES
	ldr	r1, =FILES_END
	ldr	r2, =FILES_AT
1:	cmp	r0, r1
	bhs	2f
	ldr	r3, [r0], #4
	str	r3, [r2], #4
	b	1b

2:	movs	r0, #0
	mvn	r1, #0
	ldr	r2, =TREE
	ldr	r3, =KERNEL + 1
	bx	r3

	.thumb_func
stuck:
	b	stuck

	.pool

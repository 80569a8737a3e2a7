# memcpy, memmove, memset, memcmp, bcmp of the C library.
# To 16 bytes two overlapping words, to 256 vectors of which the last overlaps, above that the processor's own instruction.

.pushsection .text.unikernel_memory, "ax", @progbits

.global memmove
.p2align 4
memmove:
    mov rax, rdi
    mov rcx, rdi
    sub rcx, rsi
    cmp rcx, rdx
    jae memcpy              # The target does not begin within the source.
    # From the end, eight bytes at a time.
2:  cmp rdx, 8
    jb 3f
    sub rdx, 8
    mov rcx, [rsi + rdx]
    mov [rdi + rdx], rcx
    jmp 2b
3:  test rdx, rdx
    je 4f
    dec rdx
    movzx ecx, byte ptr [rsi + rdx]
    mov [rdi + rdx], cl
    jmp 3b
4:  ret

.global memcpy
.p2align 4
memcpy:
    mov rax, rdi
    cmp rdx, 16
    jb 2f
    cmp rdx, 256
    ja 5f
    movups xmm1, [rsi + rdx - 16]
    lea r8, [rdi + rdx - 16]
1:  cmp rdi, r8
    jae 6f
    movups xmm0, [rsi]
    movups [rdi], xmm0
    add rsi, 16
    add rdi, 16
    jmp 1b
6:  movups [r8], xmm1
    ret
2:  cmp edx, 8
    jb 3f
    mov rcx, [rsi]
    mov r8, [rsi + rdx - 8]
    mov [rdi], rcx
    mov [rdi + rdx - 8], r8
    ret
3:  cmp edx, 4
    jb 4f
    mov ecx, [rsi]
    mov r8d, [rsi + rdx - 4]
    mov [rdi], ecx
    mov [rdi + rdx - 4], r8d
    ret
4:  test edx, edx
    je 7f
    movzx ecx, byte ptr [rsi]
    mov r9, rdx
    shr r9, 1
    movzx r8d, byte ptr [rsi + r9]
    movzx r10d, byte ptr [rsi + rdx - 1]
    mov [rdi], cl
    mov [rdi + r9], r8b
    mov [rdi + rdx - 1], r10b
7:  ret
5:  mov rcx, rdx
    rep movsb
    ret

.global memset
.p2align 4
memset:
    mov r8, rdi
    movzx eax, sil
    mov r9, 0x0101010101010101
    imul rax, r9
    cmp rdx, 8
    jb 3f
    cmp rdx, 128
    ja 2f
    lea r9, [rdi + rdx - 8]
1:  mov [rdi], rax
    add rdi, 8
    cmp rdi, r9
    jb 1b
    mov [r9], rax
    mov rax, r8
    ret
2:  mov rcx, rdx
    rep stosb
    mov rax, r8
    ret
3:  test rdx, rdx
    je 4f
    dec rdx
    mov [rdi + rdx], al
    jmp 3b
4:  mov rax, r8
    ret

.global bcmp
.global memcmp
.p2align 4
bcmp:
memcmp:
    xor ecx, ecx
1:  lea r8, [rcx + 8]
    cmp r8, rdx
    ja 2f
    mov rax, [rdi + rcx]
    mov r9, [rsi + rcx]
    cmp rax, r9
    jne 4f
    mov rcx, r8
    jmp 1b
2:  cmp rcx, rdx
    jae 3f
    movzx eax, byte ptr [rdi + rcx]
    movzx r9d, byte ptr [rsi + rcx]
    inc rcx
    sub eax, r9d
    je 2b
    ret
3:  xor eax, eax
    ret
4:  bswap rax
    bswap r9
    xor ecx, ecx
    cmp rax, r9
    seta cl
    sbb eax, eax
    or eax, ecx
    ret

.popsection

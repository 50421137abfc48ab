/* The model's weight, as Inductor places it: torch/_inductor/codecache.py. W[i][j] = ((3*i + 5*j) % 7 - 3) / 4 */
	.section .lrodata,"a",@progbits
	.balign 64
	.globl _binary_constants_bin_start, _binary_constants_bin_end
_binary_constants_bin_start:
	.float -0.75, 0.5, 0, -0.5, 0.75, 0.25, -0.25, -0.75
	.float 0, -0.5, 0.75, 0.25, -0.25, -0.75, 0.5, 0
	.float 0.75, 0.25, -0.25, -0.75, 0.5, 0, -0.5, 0.75
	.float -0.25, -0.75, 0.5, 0, -0.5, 0.75, 0.25, -0.25
	.float 0.5, 0, -0.5, 0.75, 0.25, -0.25, -0.75, 0.5
	.float -0.5, 0.75, 0.25, -0.25, -0.75, 0.5, 0, -0.5
	.float 0.25, -0.25, -0.75, 0.5, 0, -0.5, 0.75, 0.25
	.float -0.75, 0.5, 0, -0.5, 0.75, 0.25, -0.25, -0.75
_binary_constants_bin_end:
	.section .note.GNU-stack,"",@progbits

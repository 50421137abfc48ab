/* Stands for torch's header of this name; runtime.h declares the interface. */

/* SPDX-License-Identifier: MIT */
/* Between the two halves of the kernel for tests. */
#ifndef FAKE_FILES_H
#define FAKE_FILES_H

#include <stdbool.h>
#include <sys/types.h>

/* files_forget() - all that are there; and all descriptors */
void files_forget(void);
ssize_t files_read(int fd, void *buffer, size_t size);
/* files_close() - Return: whether it is an open file's. */
bool files_close(int fd);

#endif

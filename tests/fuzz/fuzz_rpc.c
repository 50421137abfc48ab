/* Any bytes as messages of JSON-RPC, in both frames: each message that is read lies within what came in, and its answer has its id. */
#include "base/rpc/rpc.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_all(int in, enum rpc_frame frame)
{
	struct rpc r = {.in = in, .out = -1, .frame = frame};
	struct err err;
	int got;
	lseek(in, 0, SEEK_SET);
	while ((got = rpc_read(&r, 0, &err)) > 0) {
		struct json_out o = rpc_answer(&r);
		json_member_null(&o, "result");
		json_close(&o);
		struct json_tape t = {0};
		uint32_t root;
		json_tape_text(&t, r.body.p, r.body.len);
		if (r.used > r.got.len || json_parse(&t, 0, r.body.len, &root) < 0 || json_get(&t, root, "id") == NONE)
			abort();
		json_tape_release(&t);
	}
	rpc_release(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("rpc", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	read_all(fd, RPC_LINES);
	read_all(fd, RPC_HEADER);
	close(fd);
	return 0;
}

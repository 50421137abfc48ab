/* calldump.c - what the probe writes of kernels and ops in a command, as text: for tests with real torch.
 *
 *     calldump WANT PACKAGE OUT COMMAND...       WANT: calls_want, a number
 *
 * OUT gets a line for each record, then "lost N, torn N"; events go to OUT.events. Ends as the command does (a signal is 128 + it).
 */
#include "model/binprobe/load.h"
#include "watch/live.h"

static FILE *events;

static int contract(void *user, const char *so_path, pid_t pid, struct buf *json, struct err *err)
{
	struct loaded l;
	struct json_out o = {.b = json};
	(void)so_path, (void)pid;
	if (load_text(&l, user, (struct load_options){0}, err) < 0)
		return -1;
	contract_to_json(&l.contract, &o);
	loaded_release(&l);
	return 0;
}

static void event(void *user, const struct live_event *ev)
{
	(void)user;
	fprintf(events, "%.*s\n", SL(ev->line));
}

static void print(FILE *f, const struct calls_reader *r, const struct call_record *c)
{
	static const char *const what[] = {"none", "run", "run-end", "begin", "end", "value", "launch", "replay"};
	static const char *const role[] = {"in", "out", "inout", "constant", "model-input", "model-output"};
	fprintf(f, "%s model %u run %u call %u", what[c->what], c->model, c->run, c->call);
	if (c->contract_call != CALLS_NO_CALL)
		fprintf(f, " contract %u", c->contract_call);
	fprintf(f, " %s", calls_name(r, c->name));
	if (c->what == CALL_END || c->what == CALL_RUN_END)
		c->result == CALLS_NOT_RETURNED ? fputs(" thrown", f) : (void)fprintf(f, " result %d", c->result);
	if (c->what == CALL_VALUE) {
		fprintf(f, " %s %s [", c->v.role < ARRAY_LEN(role) ? role[c->v.role] : "?", c->v.before ? "before" : "after");
		for (int i = 0; i < c->v.n_dim; i++)
			fprintf(f, "%s%lld", i ? "," : "", (long long)c->v.size[i]);
		fprintf(f, "] nan %llu min %g max %g", (unsigned long long)c->v.stats.nan, c->v.stats.min, c->v.stats.max);
	}
	fputc('\n', f);
}

int main(int argc, char **argv)
{
	struct err err;
	if (argc < 5)
		return 99;
	char *path = xasprintf("%s.events", argv[3]);
	FILE *out = fopen(argv[3], "w");
	events = fopen(path, "w");
	struct calls_config c = {.want = (uint32_t)strtoul(argv[1], NULL, 0), .last_run = UINT32_MAX, .records = 1 << 18};
	struct live_options o = {.contract = contract, .event = event, .user = argv[2], .calls = &c};
	struct live_result r;
	struct calls_reader reader;
	struct call_record rec;
	free(path);
	if (!out || !events || live_run(&o, argv + 4, &r, &err) < 0 || calls_open(&reader, r.folder, &err) < 0) {
		fprintf(stderr, "calldump: %s\n", out && events ? err.text : "cannot write");
		return 99;
	}
	reader.final = true;
	while (calls_next(&reader, &rec))
		print(out, &reader, &rec);
	fprintf(out, "lost %llu, torn %llu\n", (unsigned long long)reader.lost, (unsigned long long)reader.torn);
	int status = r.command.sig ? 128 + r.command.sig : r.command.status;
	calls_close(&reader);
	live_result_release(&r);
	return fclose(out) | fclose(events) ? 99 : status;
}

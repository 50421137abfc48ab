/* identity.c - for a text log: finds the process and generation of a compile id (run/generation.h).
 *
 * A tracing begins with "Step 1: torchdynamo start tracing" (TORCH_LOGS=+dynamo), a recompilation with "Recompiling function"
 * (TORCH_LOGS=recompiles), which precedes the resulting tracing (torch 2.13.0: torch/_dynamo/symbolic_convert.py, guards.py).
 * If neither is logged, nothing shows that ids restarted, and everything with one id is one compilation.
 */
#include "base/chain.h"
#include "run/textlog/textlog_part.h"

/* Lines without a pid (torch before 2.3, and unlogged output) belong to the first process of their rank. */
static uint32_t process_of(struct textlog *t, uint32_t rank, uint32_t pid)
{
	uint32_t of;
	for (uint32_t i = 0; !pid && i < t->n_process; i++) {
		memcpy(&of, intern_get(&t->processes, i).p, sizeof(of));
		if (of == rank)
			return i;
	}
	uint32_t k = intern_add(&t->processes, CHAIN_KEY(rank, pid));
	if (k == t->n_process)
		PUSH(t, process) = (struct textlog_process){GENERATION_FIRST, NONE};
	return k;
}

void block_begins(struct block *b, bool recompile)
{
	struct compile_id id;
	struct slice text = b->compile;
	compile_id_read(&text, &id);
	if (!b->compile.n)
		return;
	uint32_t k = process_of(b->t, (uint32_t)b->rank, b->pid), name = log_text(b->t, b->compile);
	struct textlog_process *p = &b->t->process[k];
	if (id.frame < 0 || id.compile < 0 || id.attempt > 0)
		return;
	bool awaited = !recompile && p->awaited == name;
	p->awaited = recompile ? name : NONE;
	if (awaited)
		return;
	if (generation_has(&b->t->generations, k, &p->generation, id.frame, id.compile))
		generation_next(&p->generation);
	generation_add(&b->t->generations, k, &p->generation, id.frame, id.compile);
}

uint32_t block_compile(struct block *b, uint32_t i)
{
	struct slice id = b->compile;
	uint64_t line = b->line[i].no;
	if (!id.n)
		return NONE;
	uint32_t process = process_of(b->t, (uint32_t)b->rank, b->pid);
	uint32_t row = facts_compile(b->t->f, b->t->input, process, b->t->process[process].generation.number, id, line);
	struct fact_compile *c = &b->t->f->compile[row];
	struct compile_id number;
	compile_id_read(&id, &number);
	if (number.attempt < 1000 && number.attempt + 1 > c->attempts) {
		c->attempts = (uint32_t)number.attempt + 1;
		c->restarted = (uint32_t)number.attempt;
	}
	if (!c->src.line || line < c->src.line)
		c->src.line = line;
	return row;
}

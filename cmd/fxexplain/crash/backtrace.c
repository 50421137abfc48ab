#include "crash/backtrace.h"

#include <ctype.h>

#include "base/srcloc.h"
#include "base/text.h"

/* State carried from line to line. */
struct reading {
	struct crash *c;
	struct slice line; /* the current one */
	struct slice name; /* of the thread of the next stack */
	bool crashed, named, journal;
	uint32_t last_number;
	enum crash_form last_form;
	bool open;           /* more frames may follow in the last stack */
	bool innermost_last; /* "most recent call last" */
	uint32_t last_frame; /* whose line may be continued: gdb; NONE */
};

/* ---- small parts ---- */

static bool hex_whole(struct slice s, uint64_t *v)
{
	size_t at = 0;
	return crash_hex(s, &at, v) && at == s.n;
}

static struct slice after(struct slice s, size_t n) { return n < s.n ? slice_of(s.p + n, s.n - n) : slice_of("", 0); }
static struct slice before(struct slice s, const char *p) { return slice_of(s.p, (size_t)(p - s.p)); }

static const char *find_last(struct slice s, const char *what)
{
	size_t n = strlen(what);
	for (size_t i = s.n; i-- > 0;)
		if (s.n - i >= n && !memcmp(s.p + i, what, n))
			return s.p + i;
	return NULL;
}

/* Digits at the start: their value, and how many there are; 0 if there are none or too many. */
static size_t digits(struct slice s, uint32_t *v)
{
	size_t n = 0;
	uint64_t x;
	while (n < s.n && isdigit((unsigned char)s.p[n]))
		n++;
	if (!n || n > 6 || !slice_u64(slice_of(s.p, n), &x))
		return 0;
	*v = (uint32_t)x;
	return n;
}

/* "sym(args) + 0x22b" or "sym+0x22b" or "sym + 555": cuts the offset off. Torch and lldb omit it if it is 0. */
static void split_offset(struct slice s, struct slice *symbol, struct crash_frame *f)
{
	uint64_t v;
	const char *plus = find_last(s, "+");
	*symbol = slice_trim(s);
	if (!plus)
		return;
	struct slice number = slice_trim(after(s, (size_t)(plus + 1 - s.p)));
	bool hex = slice_starts(number, "0x");
	if (hex ? !hex_whole(number, &v) : !slice_u64(number, &v))
		return;
	*symbol = slice_trim(before(s, plus));
	f->in_symbol = v;
	f->has |= HAS_IN_SYMBOL;
}

static bool nameless(struct slice s)
{
	return !s.n || slice_is(s, "??") || slice_is(s, "n/a") || slice_is(s, "???") || slice_is(s, "<unknown function>") ||
	       slice_starts(s, "?? (");
}

/* Looks like the name of a binary. */
static bool module_like(struct slice s) { return s.n && (slice_chr(s, '/') || slice_find(s, ".so") || !slice_chr(s, ' ')); }

static void set_symbol(struct crash_frame *f, struct slice s)
{
	s = slice_trim(s);
	if (nameless(s)) {
		f->has &= ~(unsigned)HAS_IN_SYMBOL;
		f->in_symbol = 0;
	} else {
		f->symbol = s;
	}
}

/* "file.cpp:12" or "file.cpp:12:3" */
static bool set_place(struct crash_frame *f, struct slice s)
{
	uint64_t line = 0, column;
	s = slice_trim(s);
	const char *colon = find_last(s, ":");
	if (!colon || colon == s.p || !slice_u64(after(s, (size_t)(colon + 1 - s.p)), &line))
		return false;
	struct slice file = before(s, colon);
	colon = find_last(file, ":");
	if (colon && colon != file.p && slice_u64(after(file, (size_t)(colon + 1 - file.p)), &column)) {
		line = column;
		file = before(file, colon);
	}
	if (nameless(file) || line > UINT32_MAX)
		return false;
	f->file = file;
	f->line = (uint32_t)line;
	return true;
}

/* ---- stacks ---- */

static void begin_stack(struct reading *r, bool python)
{
	struct crash_stack *s = crash_add_stack(r->c, r->named ? r->name : (struct slice){0});
	r->open = s != NULL;
	r->named = false;
	r->last_number = NONE;
	if (!s)
		return;
	s->python = python;
	s->crashed = r->crashed;
	r->crashed = false;
}

/* Adds a parsed frame to its stack. */
static void add_frame(struct reading *r, struct crash_frame *f)
{
	bool python = f->form == FORM_PYTHON;
	struct crash *c = r->c;
	bool other = !r->open || r->named || f->form != r->last_form || c->stack[c->n_stacks - 1].python != python;
	if (!other && f->number != NONE && (f->number == 0 || (r->last_number != NONE && f->number < r->last_number)))
		other = true;
	if (other)
		begin_stack(r, python);
	struct crash_frame *to = r->open ? crash_add_frame(c) : NULL;
	if (!to)
		return;
	f->text = slice_trim(r->line);
	/* The first frame is where it happened, unless a signal handler printed this: crash_read_text() checks that at the end. */
	*to = *f;
	r->last_number = f->number;
	r->last_form = f->form;
	r->last_frame = c->n_frames - 1;
}

/* ---- forms ---- */

/* "... (0x7f12 in /path/x.so)" at the end. */
static bool torch_tail(struct slice *s, struct crash_frame *f)
{
	const char *p = s->n && s->p[s->n - 1] == ')' ? find_last(*s, "(0x") : NULL;
	size_t at = 0;
	if (!p)
		return false;
	struct slice tail = slice_of(p + 1, (size_t)(s->p + s->n - 1 - (p + 1)));
	if (!crash_hex(tail, &at, &f->address) || !slice_starts(after(tail, at), " in "))
		return false;
	f->has |= HAS_ADDRESS;
	f->module = after(tail, at + 4);
	*s = slice_trim(before(*s, p));
	return true;
}

/* "frame #3: ..." of torch and lldb. */
static bool read_frame_word(struct reading *r, struct slice s)
{
	struct crash_frame f = {.form = FORM_TORCH};
	struct slice symbol;
	if (slice_starts(s, "* "))
		s = slice_trim(after(s, 2));
	if (!slice_starts(s, "frame #"))
		return false;
	s = after(s, 7);
	size_t n = digits(s, &f.number);
	if (!n || n >= s.n || s.p[n] != ':')
		return false;
	s = slice_trim(after(s, n + 1));
	if (torch_tail(&s, &f)) {
		split_offset(s, &symbol, &f);
		if (nameless(symbol) && f.has & HAS_IN_SYMBOL) {
			f.offset = f.in_symbol;
			f.has |= HAS_OFFSET;
		}
		set_symbol(&f, symbol);
		add_frame(r, &f);
		return true;
	}
	size_t at = 0;
	if (!slice_starts(s, "0x") || !crash_hex(s, &at, &f.address))
		return false;
	f.form = FORM_LLDB;
	f.has |= HAS_ADDRESS;
	s = slice_trim(after(s, at));
	const char *tick = slice_chr(s, '`'), *place = find_last(s, " at ");
	if (tick) {
		f.module = before(s, tick);
		s = after(s, (size_t)(tick + 1 - s.p));
		place = find_last(s, " at ");
	}
	if (place && set_place(&f, after(s, (size_t)(place + 4 - s.p))))
		s = before(s, place);
	split_offset(s, &symbol, &f);
	set_symbol(&f, symbol);
	add_frame(r, &f);
	return true;
}

/* "(/path/x.so+0x1234)" or "(x.so + 0x1234)", optionally followed by "(BuildId: 12ab)", at the end. */
static bool offset_tail(struct slice *s, struct crash_frame *f)
{
	struct slice rest = *s;
	const char *id = find_last(rest, "(BuildId: ");
	if (id && rest.p[rest.n - 1] == ')') {
		f->build_id = slice_of(id + 10, (size_t)(rest.p + rest.n - 1 - (id + 10)));
		rest = slice_trim(before(rest, id));
	}
	if (!rest.n || rest.p[rest.n - 1] != ')')
		return false;
	const char *plus = find_last(rest, "+"), *open = plus ? find_last(before(rest, plus), "(") : NULL;
	if (!open)
		return false;
	struct slice number = slice_trim(slice_of(plus + 1, (size_t)(rest.p + rest.n - 1 - (plus + 1))));
	struct slice module = slice_trim(slice_of(open + 1, (size_t)(plus - (open + 1))));
	if (!slice_starts(number, "0x") || !hex_whole(number, &f->offset) || !module_like(module))
		return false;
	f->has |= HAS_OFFSET;
	f->module = module;
	*s = slice_trim(before(rest, open));
	return true;
}

/* gdb: "sym (args) from /x.so", "sym (args) at file.cpp:12" */
static void gdb_tail(struct slice s, struct crash_frame *f)
{
	const char *from = find_last(s, " from "), *at = find_last(s, " at ");
	if (at && (!from || at > from) && set_place(f, after(s, (size_t)(at + 4 - s.p))))
		s = before(s, at);
	else if (from && module_like(after(s, (size_t)(from + 6 - s.p)))) {
		f->module = slice_trim(after(s, (size_t)(from + 6 - s.p)));
		s = before(s, from);
	}
	set_symbol(f, s);
}

/* "#3 ..." of gdb, sanitizers, coredumpctl, torch. */
static bool read_hash(struct reading *r, struct slice s)
{
	struct crash_frame f = {.form = FORM_GDB};
	if (!slice_starts(s, "#"))
		return false;
	size_t n = digits(after(s, 1), &f.number), at = 0;
	s = after(s, 1 + n);
	if (!n || !s.n || s.p[0] != ' ')
		return false;
	s = slice_trim(s);
	if (slice_starts(s, "<signal handler called>")) {
		f.handler = true;
		f.symbol = s;
		add_frame(r, &f);
		return true;
	}
	if (!slice_starts(s, "0x")) { /* gdb for the innermost frame with lines; torch */
		const char *from = find_last(s, " from ");
		if (from && set_place(&f, after(s, (size_t)(from + 6 - s.p))))
			f.form = FORM_TORCH, set_symbol(&f, before(s, from));
		else if (from && slice_ends(s, ":0"))
			f.form = FORM_TORCH, set_symbol(&f, before(s, from));
		else
			gdb_tail(s, &f);
		if (f.form == FORM_GDB && !f.line && !slice_ends(s, ")")) /* gdb may continue it on the next line */
			return false;
		add_frame(r, &f);
		return true;
	}
	if (!crash_hex(s, &at, &f.address))
		return false;
	f.has |= HAS_ADDRESS;
	s = slice_trim(after(s, at));
	bool in = slice_starts(s, "in ");
	if (in)
		s = slice_trim(after(s, 3));
	if (offset_tail(&s, &f)) {
		f.form = in || !s.n ? FORM_ASAN : FORM_JOURNAL;
		f.exact = f.form == FORM_ASAN; /* sanitizers print the call's address, not the return address */
		set_symbol(&f, s);
	} else if (!in) {
		return false;
	} else if (s.n && s.p[s.n - 1] == ')') {
		gdb_tail(s, &f);
	} else {
		/* "sym file.cpp:12:3" of sanitizers has no " at " */
		const char *blank = find_last(s, " ");
		struct slice place = blank ? after(s, (size_t)(blank + 1 - s.p)) : s;
		if (blank && find_last(before(s, blank), " at") != blank - 3 && set_place(&f, place)) {
			f.form = FORM_ASAN, f.exact = true;
			set_symbol(&f, before(s, blank));
		} else {
			gdb_tail(s, &f);
		}
	}
	add_frame(r, &f);
	return true;
}

/* A continuation line from gdb: "    from /x.so" and "    at file.cpp:12". */
static bool read_continued(struct reading *r, struct slice s)
{
	struct crash_frame *f = r->last_frame < r->c->n_frames ? &r->c->frame[r->last_frame] : NULL;
	if (!f || f->form != FORM_GDB)
		return false;
	if (slice_starts(s, "from ") && !f->module.n && module_like(after(s, 5))) {
		f->module = slice_trim(after(s, 5));
		return true;
	}
	return slice_starts(s, "at ") && !f->line && set_place(f, after(s, 3));
}

/* "x.so(sym+0x22b) [0x7f12]", "3  x.so(+0x12) [0x7f12]", "x.so() [0x7f12]", "x.so [0x7f12]" */
static bool read_glibc(struct reading *r, struct slice s)
{
	struct crash_frame f = {.form = FORM_GLIBC};
	uint32_t number;
	if (!s.n || s.p[s.n - 1] != ']')
		return false;
	const char *bracket = find_last(s, "[0x");
	if (!bracket || !hex_whole(slice_of(bracket + 1, (size_t)(s.p + s.n - 1 - (bracket + 1))), &f.address))
		return false;
	f.has |= HAS_ADDRESS;
	s = slice_trim(before(s, bracket));
	size_t n = digits(s, &number);
	if (n && n < s.n && s.p[n] == ' ') {
		f.number = number;
		s = slice_trim(after(s, n));
	} else {
		f.number = NONE;
	}
	const char *open = s.n && s.p[s.n - 1] == ')' ? find_last(s, "(") : NULL;
	f.module = open ? slice_trim(before(s, open)) : s;
	if (!f.module.n || (!open && !slice_chr(s, '/')) || slice_chr(f.module, ' '))
		return false;
	if (open) {
		struct slice symbol, in = slice_of(open + 1, (size_t)(s.p + s.n - 1 - (open + 1)));
		split_offset(in, &symbol, &f);
		if (!symbol.n && f.has & HAS_IN_SYMBOL) {
			f.offset = f.in_symbol;
			f.has |= HAS_OFFSET;
		}
		set_symbol(&f, symbol);
	}
	add_frame(r, &f);
	return true;
}

/* "[19] PyObject_Call+0x414(0x5642) in /opt/conda/bin/python" */
static bool read_caffe2(struct reading *r, struct slice s)
{
	struct crash_frame f = {.form = FORM_GLIBC};
	struct slice symbol;
	uint64_t address;
	if (!slice_starts(s, "["))
		return false;
	size_t n = digits(after(s, 1), &f.number);
	if (!n || 1 + n >= s.n || s.p[1 + n] != ']')
		return false;
	s = slice_trim(after(s, n + 2));
	const char *in = find_last(s, ") in "), *open = in ? find_last(before(s, in), "(") : NULL;
	if (!open || !hex_whole(slice_of(open + 1, (size_t)(in - (open + 1))), &address))
		return false;
	f.address = address;
	f.has |= HAS_ADDRESS;
	f.module = slice_trim(after(s, (size_t)(in + 5 - s.p)));
	split_offset(before(s, open), &symbol, &f);
	set_symbol(&f, symbol);
	add_frame(r, &f);
	return true;
}

static bool read_python(struct reading *r, struct slice s)
{
	struct crash_frame f = {.form = FORM_PYTHON, .number = NONE, .exact = true};
	struct srcloc at;
	if (!slice_starts(s, "File \"") || !srcloc_parse(s, &at))
		return false;
	f.file = at.file;
	f.line = at.line;
	f.symbol = at.func;
	/* faulthandler has no comma before "in", so the function is found here */
	const char *in = f.symbol.n ? NULL : find_last(s, " in ");
	if (in)
		f.symbol = slice_trim(after(s, (size_t)(in + 4 - s.p)));
	add_frame(r, &f);
	return true;
}

/* "7f1000-7f6000 r-xp 00001000 08:01 12   /path/x.so" */
static bool read_map(struct reading *r, struct slice s)
{
	struct crash_map m = {.has_flags = true};
	uint64_t number;
	size_t at = 0;
	if (!crash_hex(s, &at, &m.start) || at >= s.n || s.p[at++] != '-' || !crash_hex(s, &at, &m.end) || m.end <= m.start)
		return false;
	s = after(s, at);
	if (s.n < 6 || s.p[0] != ' ' || (s.p[1] != 'r' && s.p[1] != '-') || (s.p[2] != 'w' && s.p[2] != '-') ||
	    (s.p[3] != 'x' && s.p[3] != '-') || (s.p[4] != 'p' && s.p[4] != 's') || s.p[5] != ' ')
		return false;
	m.read = s.p[1] == 'r', m.write = s.p[2] == 'w', m.exec = s.p[3] == 'x';
	s = after(s, 6);
	at = 0;
	if (!crash_hex(s, &at, &m.offset))
		return false;
	s = slice_trim(after(s, at));
	for (int i = 0; i < 2; i++) { /* device, inode */
		const char *blank = slice_chr(s, ' ');
		s = blank ? slice_trim(after(s, (size_t)(blank - s.p))) : slice_of("", 0);
	}
	(void)number;
	if (slice_starts(s, "/"))
		m.path = slice_ends(s, " (deleted)") ? slice_of(s.p, s.n - 10) : s;
	struct crash_map *to = crash_add_map(r->c);
	if (to)
		*to = m;
	return true;
}

/* A hexadecimal number after a word; false if there is none. */
static bool number_after(struct slice s, const char *word, uint64_t *v)
{
	const char *p = slice_find(s, word);
	size_t at = 0;
	return p && crash_hex(after(s, (size_t)(p - s.p) + strlen(word)), &at, v);
}

/* " in x.so[7f1000+5000]", " in x.so[1a000,7f1000+5000]" */
static bool kernel_place(struct slice s, struct crash_frame *f)
{
	const char *in = find_last(s, " in "), *open;
	uint64_t first, second, size;
	size_t at = 0;
	if (!in)
		return false;
	s = after(s, (size_t)(in + 4 - s.p));
	open = slice_chr(s, '[');
	if (!open || open == s.p)
		return false;
	struct slice in_bracket = after(s, (size_t)(open + 1 - s.p));
	if (!crash_hex(in_bracket, &at, &first) || at >= in_bracket.n)
		return false;
	bool three = in_bracket.p[at] == ',';
	second = first;
	at++;
	if (three && (!crash_hex(in_bracket, &at, &second) || at++ >= in_bracket.n))
		return false;
	if (in_bracket.p[at - 1] != '+' || !crash_hex(in_bracket, &at, &size) || f->address < second)
		return false;
	f->module = before(s, open);
	f->offset = three ? first : f->address - second;
	f->map_size = size;
	f->has |= three ? HAS_FILE_OFFSET : HAS_MAP_OFFSET;
	return true;
}

static bool read_kernel(struct reading *r, struct slice s)
{
	struct crash_frame f = {.form = FORM_KERNEL, .number = NONE, .exact = true};
	struct crash *c = r->c;
	uint64_t error;
	bool fault = slice_find(s, "segfault at ") != NULL;
	if (!fault && !slice_find(s, " trap ") && !slice_find(s, "general protection"))
		return false;
	if (!number_after(s, " ip ", &f.address) && !number_after(s, " ip:", &f.address))
		return false;
	f.has |= HAS_ADDRESS;
	if (!c->has_ip)
		c->ip = f.address, c->has_ip = true;
	if (fault && !c->has_fault)
		c->has_fault = number_after(s, "segfault at ", &c->fault);
	if (number_after(s, " error ", &error) && fault && !c->has_access) {
		c->fault_write = error & 2; /* x86: bit 1 of the page fault's code */
		c->has_access = true;
	}
	kernel_place(s, &f);
	r->named = false;
	r->last_frame = NONE;
	r->open = false;
	add_frame(r, &f);
	r->open = false;
	return true;
}

/* "RuntimeError: aoti_torch_cpu_f(...) API call failed at /p/x.wrapper.cpp, line 12" */
static bool read_check(struct reading *r, struct slice s)
{
	struct crash_frame f = {.form = FORM_CHECK, .number = NONE, .exact = true};
	const char *at = find_last(s, " API call failed at "), *line = at ? find_last(s, ", line ") : NULL, *name;
	uint64_t number;
	size_t n = 0;
	if (!at || !line || line < at || r->c->signs & SIGN_API)
		return false;
	struct slice digits_of = after(s, (size_t)(line + 7 - s.p));
	while (n < digits_of.n && isdigit((unsigned char)digits_of.p[n]))
		n++;
	if (!slice_u64(slice_of(digits_of.p, n), &number) || number > UINT32_MAX)
		return false;
	f.line = (uint32_t)number;
	f.file = slice_of(at + 20, (size_t)(line - (at + 20)));
	name = slice_find(before(s, at), "aoti_torch_");
	for (n = 0; name && name + n < at && (isalnum((unsigned char)name[n]) || name[n] == '_'); n++)
		;
	f.symbol = name ? slice_of(name, n) : (struct slice){0};
	r->named = false;
	r->open = false;
	add_frame(r, &f);
	r->open = false;
	return true;
}

/* ---- lines that introduce a stack ---- */

static bool read_heading(struct reading *r, struct slice s)
{
	bool current = slice_starts(s, "Current thread ");
	bool python = (current || slice_starts(s, "Thread 0x")) && slice_find(s, "(most recent call first)");
	bool gdb = slice_starts(s, "Thread ") && s.n && s.p[s.n - 1] == ':' && slice_find(s, "LWP");
	bool journal = slice_starts(s, "Stack trace of thread ");
	bool lldb = slice_starts(s, "* thread #") || slice_starts(s, "thread #");
	if (slice_starts(s, "Traceback (most recent call last)")) {
		r->named = true;
		r->name = (struct slice){0};
		r->crashed = false;
		r->innermost_last = true;
		return true;
	}
	if (!python && !gdb && !journal && !lldb)
		return false;
	const char *end = slice_find(s, " (most recent");
	r->name = python && end ? before(s, end) : s;
	r->named = true;
	r->innermost_last = false;
	/* coredumpctl writes the thread that crashed first, lldb marks it */
	r->crashed = current || slice_starts(s, "* thread #") || (journal && !r->journal);
	r->journal = r->journal || journal;
	crash_read_sign(r->c, s);
	return true;
}

/* ---- the whole text ---- */

/* Reverses a traceback: innermost first. */
static void reverse(struct crash *c, struct crash_stack *s)
{
	for (uint32_t i = 0; i < s->n / 2; i++) {
		struct crash_frame t = c->frame[s->first + i];
		c->frame[s->first + i] = c->frame[s->first + s->n - 1 - i];
		c->frame[s->first + s->n - 1 - i] = t;
	}
}

static bool handler_symbol(const struct crash_frame *f)
{
	static const char *const name[] = {
	    "FatalSignalHandler", "__restore_rt", "killpg",    "sigaction",
	    "ucs_handle_error",   "ucs_debug",    "_sigtramp", "caffe2::(anonymous namespace)::fatalSignalHandler",
	    "faulthandler"};
	return slice_any(f->symbol, name, slice_has);
}

/* A stack printed by a signal handler starts with the handler and the C library's frame that called it. */
static void mark_handler(struct crash *c, const struct crash_stack *s)
{
	uint32_t last = NONE;
	for (uint32_t i = 0; i < s->n && i < 16; i++) {
		const struct crash_frame *f = &c->frame[s->first + i];
		if (f->handler || handler_symbol(f))
			last = i;
		else if (last != NONE && i == last + 1 && slice_starts(slice_base(f->module), "libucs"))
			last = i;
		else if (last != NONE && i == last + 1 && slice_starts(slice_base(f->module), "libc.so") && !f->symbol.n)
			last = i; /* the kernel's signal frame; it has a name only in libraries with symbols */
		else if (last == NONE && (slice_starts(slice_base(f->module), "libasan") || slice_starts(slice_base(f->module), "libucs")))
			last = i;
	}
	for (uint32_t i = 0; last != NONE && i <= last; i++)
		c->frame[s->first + i].handler = true;
	/* The interrupted frame did not make a call: its address is exact. So is that of a debugger's first frame. */
	uint32_t first = last == NONE ? 0 : last + 1;
	if (first < s->n && !s->python &&
	    (last != NONE || c->frame[s->first].form == FORM_GDB || c->frame[s->first].form == FORM_LLDB ||
	     c->frame[s->first].form == FORM_JOURNAL))
		c->frame[s->first + first].exact = true;
}

static void read_line(struct reading *r)
{
	struct slice s = slice_trim(r->line);
	if (s.n > CRASH_MAX_LINE)
		s.n = CRASH_MAX_LINE;
	if (!s.n)
		return;
	uint32_t stacks = r->c->n_stacks;
	if (read_heading(r, s) || read_frame_word(r, s) || read_hash(r, s) || read_continued(r, s) || read_python(r, s)) {
		if (r->c->n_stacks > stacks && r->c->stack[stacks].python && r->innermost_last)
			r->c->stack[stacks].tid = 1; /* to be reversed at the end */
		return;
	}
	r->last_frame = NONE;
	if (read_kernel(r, s)) {
		crash_read_sign(r->c, s);
		return;
	}
	if (read_glibc(r, s) || read_caffe2(r, s) || read_map(r, s))
		return;
	read_check(r, s);
	crash_read_sign(r->c, s);
}

void crash_read_text(struct crash *c, struct slice text)
{
	struct reading r = {.c = c, .last_number = NONE, .last_frame = NONE};
	uint32_t first = c->n_stacks;
	c->from_text = true;
	while (slice_line(&text, &r.line))
		read_line(&r);
	for (uint32_t i = first; i < c->n_stacks; i++) {
		struct crash_stack *s = &c->stack[i];
		if (s->python && s->tid)
			reverse(c, s);
		s->tid = 0;
		mark_handler(c, s);
	}
	crash_place_frames(c);
}

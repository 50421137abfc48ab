/* session.c - shared by all modes: where output goes, which findings are shown and when. */
#include "base/tool/diag.h"
#include "base/tool/output.h"
#include "base/broker/broker.h"
#include "base/tool/tempfolder.h"
#include "nanassert.h"

#include <fcntl.h>
#include <unistd.h>

int session_open(struct session *s, const struct nanassert_options *o, const char *subject, bool live, struct err *err)
{
	*s = (struct session){.o = o, .subject = subject, .live = live, .log = -1};
	s->nan.o = (struct nan_options){
	    .inf = o->inf,
	    .range = o->range,
	    .constants = o->constants,
	    .skipped = o->skipped,
	    .lo = o->lo,
	    .hi = o->hi,
	    .ignore = o->ignore.v,
	    .n_ignore = o->ignore.n,
	};
	s->screen = screen_make();
	if (o->log || (live && !isatty(STDERR_FILENO))) {
		s->screen.color = false;
		s->screen.width = 0;
	}
	if (o->log && (s->log = open(o->log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666)) < 0)
		return err_errno(err, EXIT_ENVIRON, "cannot write '%s'", o->log);
	if (!live) /* else when the command has been started */
		broker_seal(0);
	return o->trace ? nan_sources_file(&s->trace, o->trace, err) : 0;
}

void session_flush(struct session *s)
{
	struct err err = {0};
	int r = 0;
	if (s->o->quiet)
		buf_reset(&s->screen.b);
	if (!s->screen.b.len)
		return;
	if (s->o->log || s->live) {
		int fd = s->log >= 0 ? s->log : STDERR_FILENO;
		if (!s->log_failed)
			r = screen_write(&s->screen, fd, s->o->log ? s->o->log : "standard error", &err);
		buf_reset(&s->screen.b);
	} else {
		r = screen_flush(&s->screen, &err);
	}
	if (r < 0 && err.text[0] && !s->log_failed) {
		s->log_failed = true;
		warn("%s", err.text);
	}
}

size_t session_findings(const struct session *s) { return s->nan.n + exploded_n(s->exploded); }

int session_status(const struct session *s, int status)
{
	return status == EXIT_FINE && !session_findings(s) && session_unread(s) ? EXIT_PARTIAL : status;
}

void session_end(struct session *s)
{
	if (s->o->json) {
		document_write(&s->screen.b, s);
	} else {
		size_t n = s->o->all || s->nan.n < 1 ? s->nan.n : 1;
		for (; s->shown < n; s->shown++) {
			if (s->shown)
				buf_addc(&s->screen.b, '\n');
			show_finding(&s->screen, s, &s->nan.finding[s->shown]);
		}
		show_summary(&s->screen, s);
	}
	session_flush(s);
	if (s->log >= 0 && close(s->log) < 0 && !s->log_failed) {
		warn("cannot write '%s'", s->o->log);
		s->log_failed = true;
	}
	s->log = -1;
}

void session_close(struct session *s)
{
	nan_release(&s->nan);
	against_release(&s->against);
	nan_sources_release(&s->trace);
	buf_release(&s->screen.b);
	buf_release(&s->failure);
	buf_release(&s->stopped);
	arena_release(&s->evaluated);
	exploded_free(s->exploded);
	temp_folder_remove(s->folder);
	if (s->log >= 0)
		close(s->log);
}

# packaging.mk - what leaves the tree: installed, as a wheel, a Debian package, a release. The Makefile includes it.

INSTALL  ?= install
STRIP    ?= strip
OBJCOPY  ?= objcopy
docs_at  ?= $(docdir)
docs     := $(filter-out docs/dev/HACKING.md,$(wildcard docs/*/*.md))
skills   := $(wildcard share/skills/*/*.md share/skills/*/*/*.md)
docdirs  := $(patsubst docs/%/,$(docdir)/%,$(sort $(dir $(docs)))) $(patsubst share/%/,$(docdir)/%,$(sort $(dir $(skills))))
manuals  := $(wildcard man/*.1)
guest    := $(probe) $(heap) $(shim) $(runner)
# Which folders `make install` made is for `make uninstall`; packaged=1: a package manager knows.
packaged ?=

# What is installed is one program, pt2utils, which has what the tools share once, and launchers under their names (packaging/one): a third of the size.
# A tool's own symbols stay its own: main() becomes main_TOOL, all others are local. In build/bin each is a program by itself.
one      := $(O)/one
programs := $(one)/bin/pt2utils $(TOOLS:%=$(one)/bin/%)
one_name  = main_$(subst -,_,$(1))
about     = $(shell sed -n 's/^\.Nd //p' man/$(1).1)
define one_rule
$(one)/$(1).o: $$(call objects,cmd/$(1)/*.c cmd/$(1)/*/*.c)
endef
$(foreach t,$(TOOLS),$(eval $(call one_rule,$(t))))

one_comps := $(foreach s,bash zsh fish,$(one)/pt2utils.$(s))

tests: $(if $(SAN),,$(programs) $(one_comps)) # the same code once more: not under sanitizers

$(TOOLS:%=$(one)/%.o): $(one)/%.o: $(O)/sources
	@mkdir -p $(@D)
	$(Q)$(CC) -r -nostdlib -fno-lto $(filter %.o,$^) -o $@
	$(Q)$(OBJCOPY) -R '.gnu.lto_*' --redefine-sym main=$(call one_name,$*) --keep-global-symbol=$(call one_name,$*) $@

$(one)/one.o: $(TOOLS:%=man/%.1)
$(one)/%.o: packaging/one/%.c $(O)/flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(all_cflags) $(cli) -DPT2_TOOLS='$(foreach t,$(TOOLS),TOOL($(subst -,_,$(t)), "$(t)", "$(call about,$(t))"))' -c $< -o $@

$(one)/bin/pt2utils: $(one)/one.o $(TOOLS:%=$(one)/%.o) $(libs)
	@mkdir -p $(@D)
	@$(if $(Q),echo "  LD      $@")
	$(Q)$(CC) $(CFLAGS) $(san) -pthread $(LDFLAGS) $^ -o $@ $(pkg_libs) -lm

$(one)/pt2utils.%: $(one)/bin/pt2utils
	$(Q)$< --completion=$* > $@

$(TOOLS:%=$(one)/bin/%): $(one)/launch.o
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(san) $(LDFLAGS) $< -o $@

.PHONY: install install-strip uninstall

install: all $(programs) $(one_comps)        ## into DESTDIR and prefix (bindir, libdir, mandir, docdir, bashdir, zshdir, fishdir)
	$(Q)packaging/made-folders list '$(DESTDIR)' $(libdir)/folders $(bindir) $(libdir) $(mandir)/man1 $(docdirs) $(bashdir) $(zshdir) $(fishdir) >$(O)/folders
	$(INSTALL) -d $(addprefix $(DESTDIR),$(bindir) $(libdir) $(mandir)/man1 $(docdirs) $(bashdir) $(zshdir) $(fishdir))
	$(INSTALL) -m 755 $(programs) $(DESTDIR)$(bindir)
	$(INSTALL) -m 755 $(guest) $(DESTDIR)$(libdir)
	$(if $(packaged),,$(INSTALL) -m 644 $(O)/folders $(DESTDIR)$(libdir))
	$(INSTALL) -m 644 scripts/ci/fxexplain-ci scripts/ci/fxexplain-comment NEWS LICENSE $(DESTDIR)$(docdir)
	$(Q)for d in $(docs); do to=$${d%/*} && $(INSTALL) -m 644 $$d $(DESTDIR)$(docdir)/$${to##*/} || exit 1; done
	$(Q)for s in $(skills); do $(INSTALL) -m 644 $$s $(DESTDIR)$(docdir)/$${s#share/} || exit 1; done
	$(Q)for m in $(notdir $(manuals)); do \
		sed 's|docs/\([a-z]*/[A-Z]*\.md\)|$(docs_at)/\1|' man/$$m >$(O)/$$m && \
		$(INSTALL) -m 644 $(O)/$$m $(DESTDIR)$(mandir)/man1/$$m || exit 1; done
	$(Q)for t in $(TOOLS); do \
		$(INSTALL) -m 644 $(O)/completions/$$t.bash $(DESTDIR)$(bashdir)/$$t && \
		$(INSTALL) -m 644 $(O)/completions/$$t.zsh $(DESTDIR)$(zshdir)/_$$t && \
		$(INSTALL) -m 644 $(O)/completions/$$t.fish $(DESTDIR)$(fishdir)/$$t.fish || exit 1; done
	$(INSTALL) -m 644 $(one)/pt2utils.bash $(DESTDIR)$(bashdir)/pt2utils
	$(INSTALL) -m 644 $(one)/pt2utils.zsh $(DESTDIR)$(zshdir)/_pt2utils
	$(INSTALL) -m 644 $(one)/pt2utils.fish $(DESTDIR)$(fishdir)/pt2utils.fish

install-strip: install          ## the same without what is for debuggers
	$(STRIP) $(addprefix $(DESTDIR)$(bindir)/,$(notdir $(programs))) $(DESTDIR)$(libdir)/$(notdir $(runner))
	$(STRIP) --strip-unneeded $(addprefix $(DESTDIR)$(libdir)/,$(notdir $(probe) $(heap) $(shim)))

uninstall:                      ## remove what install put there, and the folders that it made, if they are empty
	rm -f $(addprefix $(DESTDIR)$(bindir)/,$(notdir $(programs))) $(addprefix $(DESTDIR)$(libdir)/,$(notdir $(guest))) \
		$(addprefix $(DESTDIR)$(docdir)/,$(docs:docs/%=%) $(skills:share/%=%) fxexplain-ci fxexplain-comment NEWS LICENSE) $(manuals:man/%=$(DESTDIR)$(mandir)/man1/%) \
		$(foreach t,$(TOOLS) pt2utils,$(DESTDIR)$(bashdir)/$(t) $(DESTDIR)$(zshdir)/_$(t) $(DESTDIR)$(fishdir)/$(t).fish)
	$(Q)packaging/made-folders remove '$(DESTDIR)' $(libdir)/folders

# ---- wheels and packages: in clean systems that debootstrap makes, as root; kept in ROOTS ----

dist     ?= $(O)/dist
ROOTS    ?= $(CURDIR)/$(O)/roots
export ROOTS

.PHONY: python
python: all                     ## import pt2utils and its pytest plugin from this tree, with the tools built here: prints the PYTHONPATH to set
	@packaging/wheel/checkout $(O)

.PHONY: wheel check-wheel

wheel:                          ## the Python wheels and a .tar.xz, in build/dist: for any Linux with glibc 2.28 (as root), or LOCAL=1: for this glibc
	@$(if $(LOCAL),LOCAL=1 packaging/wheel/build,packaging/wheel/make) $(dist)

check-wheel: wheel              ## install them in clean Debian 11, 12 and 13 as a user, run every tool
	@packaging/check-wheel $(dist)

.PHONY: wheel-aarch64
wheel-aarch64:                  ## the same for AArch64, by Debian's cross compiler against Debian 11, tried under qemu
	@packaging/wheel/make-aarch64 $(dist)

.PHONY: deb check-deb check-sources check-compilers dist release

deb:                            ## the Debian packages for this system, tests and lintian included, in build/dist
	@packaging/make-deb $(dist)

check-deb:                      ## build them for Debian 12 and 13, install in clean systems, run every tool, purge
	@packaging/check-deb $(dist)

check-sources:                  ## the README's first commands in clean Debian 12 and 13, as root and as a user; CHECK=1: make check
	@packaging/check-sources $(dist)

check-compilers:                ## build without a warning by every gcc and clang that Debian 12 and 13 have
	@packaging/check-compilers $(dist)

# The committed tree, and what dpkg-buildpackage wants beside it.
src      := pt2utils-$(VERSION)
dist:                           ## the sources of HEAD as pt2utils-VERSION.tar.xz, in build/dist
	@mkdir -p $(dist)/.new && packaging/changelog >$(dist)/.new/changelog
	@git archive --prefix=$(src)/debian/ --add-file=$(dist)/.new/changelog --prefix=$(src)/ HEAD | xz -6 >$(dist)/.new/$(src).tar.xz
	@mv $(dist)/.new/$(src).tar.xz $(dist) && rm -r $(dist)/.new && ls -sh $(dist)/$(src).tar.xz

release: dist wheel wheel-aarch64 ## all that is uploaded for VERSION, with checksums and the release's page, in build/dist
	@DEB_BUILD_OPTIONS=nocheck packaging/make-deb $(dist) bookworm
	@DEB_BUILD_OPTIONS=nocheck packaging/make-deb $(dist) trixie
	@packaging/release $(dist)

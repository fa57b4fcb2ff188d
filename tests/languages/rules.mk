# The compiler.
CC ?= gcc
SRC := $(wildcard \
	*.c)
export PATH := bin:$(PATH)
CFLAGS += -O2
override OUT = out
.PHONY: all clean

# Everything.
all: build test ## it's all
	@echo "a = b"
# within: no rule
ifdef X
	cc: x
else
	cc y
endif

build test:: $(SRC) | $(OUT)
	cc $^ \
all: no

define template
hidden: a
	b
endef
all: CFLAGS = -O3
$(OUT)/x: y
%.o: %.c
	cc
out/a.bin out/b-1: a; touch $@
-include extra.mk
ifeq ($(X),1)
SRC = x.c
endif
A ::= 1
clean:

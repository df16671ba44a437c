package codeid

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
	"github.com/goatnote-inc/pawl/internal/kernel/build/cuda"
	"github.com/goatnote-inc/pawl/measure"
)

// Mixes identifies the named functions in the files, as Of does, and counts their instructions by
// class. A name is one that Of returns, with or without its <> part. If names is empty, Mixes returns
// all functions. Data has no mix.
func Mixes(ctx context.Context, files, names []string) ([]profile.Function, error) {
	digests, err := Of(ctx, files)
	if err != nil {
		return nil, err
	}
	digests = slices.DeleteFunc(digests, func(d measure.CodeDigest) bool { return !wanted(d.Kernel, names) })
	if len(digests) == 0 {
		return nil, nil
	}
	mixes := map[[2]string]measure.Mix{}
	for _, file := range files {
		if err := mixesOf(ctx, file, mixes); err != nil {
			return nil, fmt.Errorf("cannot count the instructions of %s: %w", file, err)
		}
	}
	list := make([]profile.Function, len(digests))
	for i, d := range digests {
		list[i].CodeDigest = d
		if m, ok := mixes[[2]string{d.Kernel, d.Arch}]; ok {
			list[i].Mix = &m
		}
	}
	return list, nil
}

func wanted(name string, names []string) bool {
	base, _, _ := strings.Cut(name, "<")
	return name != Data && (len(names) == 0 || slices.Contains(names, name) || slices.Contains(names, base))
}

// mixesOf adds the mixes of a file by name and architecture. Like Of, it combines functions with the
// same name. The same mix in two files counts once.
func mixesOf(ctx context.Context, file string, into map[[2]string]measure.Mix) error {
	var list []cuda.Sass
	if cuda.HasCode(file) {
		device, err := cuda.Mixes(ctx, file)
		if err != nil {
			return err
		}
		list = device
	}
	text, arch, err := disassemble(ctx, file)
	if err != nil {
		return err
	}
	for name, mix := range ReadMixes(text) {
		list = append(list, cuda.Sass{Symbol: name, Arch: arch, Mix: mix})
	}
	slices.SortFunc(list, func(a, b cuda.Sass) int {
		return cmp.Or(strings.Compare(a.Symbol, b.Symbol), strings.Compare(a.Arch, b.Arch))
	})
	symbols := make([]string, len(list))
	for i, s := range list {
		symbols[i] = s.Symbol
	}
	own := map[[2]string]measure.Mix{}
	for i, name := range cuda.Demangle(ctx, symbols) {
		key := [2]string{cuda.Short(name), list[i].Arch}
		own[key] = own[key].Add(list[i].Mix)
	}
	for key, mix := range own {
		if had, ok := into[key]; ok && !same(had, mix) {
			mix = had.Add(mix)
		}
		into[key] = mix
	}
	return nil
}

func same(a, b measure.Mix) bool {
	return a.Instructions == b.Instructions && slices.Equal(a.Counts, b.Counts)
}

var (
	mixLine   = lazyregexp.New(`^\s*([0-9a-f]+):\t(\S.*)$`)
	jumpsTo   = lazyregexp.New(`(?:^|[\s,])([0-9a-f]+) <`)
	armFormat = lazyregexp.New(`file format elf64-(little|big)aarch64`)
)

// maxInstructions is the maximum number of instructions kept of one function.
const maxInstructions = 1 << 20

// ReadMixes counts the instructions of every function in the output of objdump -d -r -w
// --no-show-raw-insn, for x86-64 and 64-bit ARM.
func ReadMixes(text string) map[string]measure.Mix {
	classify := classifyX86
	if armFormat.MatchString(text) {
		classify = classifyARM
	}
	mixes := map[string]measure.Mix{}
	for name, lines := range functions(text) {
		if code := instructions(lines, classify); len(code) > 0 {
			mixes[name] = mixes[name].Add(measure.CountMix(code))
		}
	}
	return mixes
}

// instructions returns the instructions of a function, without padding.
func instructions(lines []string, classify func(name, operands string) (class string, bytes int, loops bool)) []measure.Instruction {
	var code []measure.Instruction
	for _, line := range lines {
		m := mixLine.FindStringSubmatch(line)
		if m == nil || len(code) == maxInstructions || padding.MatchString(m[2]) {
			continue
		}
		at, err := strconv.ParseUint(m[1], 16, 64)
		if err != nil {
			continue
		}
		text, _, _ := strings.Cut(m[2], " # ")
		text, _, _ = strings.Cut(text, "\t\t\t") // a relocation
		name, operands, _ := strings.Cut(strings.TrimSpace(strings.ReplaceAll(text, "\t", " ")), " ")
		in := measure.Instruction{At: at}
		var loops bool
		in.Class, in.Bytes, loops = classify(name, strings.TrimSpace(operands))
		if t := jumpsTo.FindStringSubmatch(operands); t != nil && loops {
			in.To, err = strconv.ParseUint(t[1], 16, 64)
			in.Jumps = err == nil
		}
		code = append(code, in)
	}
	return code
}

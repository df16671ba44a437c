package explain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/report"
)

// occupancyFlags are the flags of pawl device occupancy.
type occupancyFlags struct {
	*env.Env
	arch           string
	launch         gpu.Launch
	shared, prefer byteSize
	json           bool
}

func newOccupancy(g *env.Env) *cobra.Command {
	f := occupancyFlags{Env: g}
	cmd := &cobra.Command{
		Use:   "occupancy --threads N [--regs N] [--smem BYTES] [--arch ARCH]",
		Short: "Compute how many blocks of a kernel fit on an SM, and what limits them",
		Long: `Computes how many blocks and warps of a kernel fit on a streaming multiprocessor at once, by
NVIDIA's formula: what limits them, and what would raise the limit. No GPU is needed.

Registers and static shared memory are those that nvcc -Xptxas -v prints. Set --smem to
static and dynamic shared memory together, without the 1 KB that the driver adds. The
carve-out is how much shared memory the kernel prefers on an SM; the default is the
maximum. A size may end in K, for 1024 bytes.

Exit code: 0, or 1 if the kernel cannot be launched.`,
		Example: `  pawl device occupancy --arch sm_89 --threads 256 --regs 168 --smem 32K
  pawl device occupancy --arch L4 --threads 256 --regs 168 --smem 32K --carveout 64K
  pawl device occupancy --threads 128 --regs 64 --json    # on the GPU here`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.arch, "arch", "", "`architecture` or card: sm_89, 8.9, L4 (default: the GPU here)")
	fl.IntVar(&f.launch.Threads, "threads", 0, "threads per block")
	fl.IntVar(&f.launch.Registers, "regs", 0, "registers per thread; not counted if not set")
	fl.Var(&f.shared, "smem", "shared memory per block in `bytes`")
	fl.Var(&f.prefer, "carveout", "shared memory that the kernel prefers per SM, in `bytes` (default: the maximum)")
	fl.IntVar(&f.launch.Barriers, "barriers", 0, "barriers per block, as the compiler counts them; a limit from sm_90 on")
	fl.BoolVar(&f.json, "json", false, "print JSON")
	return cmd
}

func (f *occupancyFlags) run(ctx context.Context) error {
	if f.launch.Threads == 0 {
		return command.Usage(errors.New("--threads is required, for example --threads 256"))
	}
	arch, err := f.architecture(ctx)
	if err != nil {
		return err
	}
	// Count all of it as dynamic: static shared memory above 48 KB does not compile.
	f.launch.DynamicShared, f.launch.Carveout = int(f.shared), int(f.prefer)
	o, err := arch.Occupancy(f.launch)
	if err != nil {
		return command.Usage(err)
	}
	if f.json {
		err = command.WriteJSON(f.Out, o)
	} else {
		err = f.write(arch, o)
	}
	if err == nil && o.BlocksPerSM == 0 {
		err = command.Exit(command.ExitFailed, fmt.Errorf("%w: the kernel cannot be launched", command.ErrReported))
	}
	return err
}

// architecture returns the architecture that --arch names, directly or by a card; without it, that of
// the GPU in this machine.
func (f *occupancyFlags) architecture(ctx context.Context) (gpu.Arch, error) {
	if f.arch != "" {
		found, err := FindHardware(f.arch)
		if err != nil {
			return gpu.Arch{}, err
		}
		if len(found.Archs) == 0 {
			return gpu.Arch{}, command.Usage(fmt.Errorf("the limits of %s, the architecture of %s, are not known", found.Cards[0].Arch, found.Cards[0].Name))
		}
		if len(found.Archs) > 1 {
			return gpu.Arch{}, command.Usage(fmt.Errorf("%q matches cards of several architectures: choose one of %s", f.arch, Names(found.Cards)))
		}
		return found.Archs[0], nil
	}
	here, err := deviceHere(ctx)
	if err != nil {
		return gpu.Arch{}, err
	}
	if here.Identity == nil {
		return gpu.Arch{}, command.Usage(fmt.Errorf("no GPU to compute for: %s; set --arch, for example --arch sm_89", here.whyNone))
	}
	arch, err := gpu.FindAnyArch(here.Identity.ComputeCapability)
	if err != nil {
		return gpu.Arch{}, fmt.Errorf("%s: %w", here.Identity.Name, err)
	}
	return arch, nil
}

func (f *occupancyFlags) write(a gpu.Arch, o gpu.Occupancy) error {
	style := f.Style()
	var b strings.Builder
	head := fmt.Sprintf("%s: %s per SM, %d of %d warps, occupancy %s", a.Name, words.Plural(o.BlocksPerSM, "block"),
		o.WarpsPerSM, a.WarpsPerSM.Value, words.Percent(o.Occupancy))
	b.WriteString(style.Bold(head) + "\n")
	for _, why := range o.Refused {
		b.WriteString(style.Bad("cannot be launched: ") + why + "\n")
	}
	if len(o.Refused) == 0 {
		b.WriteString("limited by " + o.LimitedBy() + "\n")
	}
	b.WriteString("\n")
	if err := report.Table(&b, style, []bool{false, true, false, true, true, false}, f.rows(a, o)); err != nil {
		return err
	}
	if len(o.Options) > 0 {
		b.WriteString("\nwhat would raise it, with everything else unchanged\n")
	}
	for _, r := range o.Options {
		fmt.Fprintf(&b, "  %s, occupancy %s\n", r.Text, words.Percent(r.Occupancy))
	}
	for _, note := range o.Notes {
		b.WriteString("\n" + style.Faint("note: "+note) + "\n")
	}
	_, err := f.Out.Write([]byte(b.String()))
	return err
}

// rows lists, for each resource, what a block takes and what an SM has.
func (f *occupancyFlags) rows(a gpu.Arch, o gpu.Occupancy) [][]string {
	rows := [][]string{{"resource", "per block", "", "per SM", "blocks", ""}}
	number := strconv.Itoa
	for _, limit := range o.Limits {
		row := []string{limit.Resource.String(), "1", "", number(a.BlocksPerSM.Value), number(limit.Blocks), ""}
		switch limit.Resource {
		case gpu.LimitBlocks: // the defaults above apply
		case gpu.LimitWarps:
			row[1], row[3] = number(o.WarpsPerBlock), number(a.WarpsPerSM.Value)
		case gpu.LimitRegisters:
			row[1], row[3] = number(o.RegistersPerBlock), number(a.RegistersPerSM.Value)
			row[2] = fmt.Sprintf("%d per thread", o.Launch.Registers)
		case gpu.LimitShared:
			row[1], row[3] = number(o.SharedPerBlock), number(o.SharedPerSM)
			if reserved := a.SharedReserved.Value; reserved > 0 {
				row[2] = fmt.Sprintf("%d for the driver", reserved)
			}
		case gpu.LimitBarriers:
			row[1], row[3] = number(o.Launch.Barriers), number(a.Barriers.Value)
		}
		if slices.Contains(o.Limiters, limit.Resource) {
			row[5] = "limits"
		}
		rows = append(rows, row)
	}
	return rows
}

// byteSize is a flag for a number of bytes: 65536, 64K, 64KB and 64KiB are the same.
type byteSize int

func (s *byteSize) String() string {
	if *s == 0 {
		return ""
	}
	return strconv.Itoa(int(*s))
}

// Type returns the name of the value in help texts.
func (*byteSize) Type() string { return "bytes" }

// Set parses a size.
func (s *byteSize) Set(text string) error {
	number, unit := strings.ToLower(text), 1
	for _, suffix := range []string{"kib", "kb", "k"} {
		if rest, ok := strings.CutSuffix(number, suffix); ok {
			number, unit = rest, 1024
			break
		}
	}
	n, err := strconv.Atoi(strings.TrimSpace(number))
	if err != nil || n < 0 || n > 1<<30 {
		return errors.New("expected bytes such as 49152 or 48K")
	}
	*s = byteSize(n * unit)
	return nil
}

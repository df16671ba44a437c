package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/cli/explain"
	"github.com/goatnote-inc/pawl/internal/explain/diagnose"
	"github.com/goatnote-inc/pawl/internal/learn/gates"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
	"github.com/goatnote-inc/pawl/internal/learn/page"
)

// guideFlags are the flags of pawl session guide.
type guideFlags struct {
	*globals
	format   string
	html     string
	gpu      string
	tree     string
	symptoms string
}

func newGuide(g *globals) *cobra.Command {
	f := guideFlags{globals: g}
	cmd := &cobra.Command{
		Use:   "guide",
		Short: "Show rules, gates, commands and limits on one page",
		Long: `Shows one page with what to do now, the state of the gates in the open session, the
rules, the commands, the thresholds, and the limits of the device. Without a session it
shows the general list.

--html writes a page that prints on one sheet. --tree and --symptoms draw decision trees:
from gate to gate, and from a symptom to what to try.`,
		Example: `  pawl session guide
  pawl session guide --gpu L4
  pawl session guide --html guide.html          # print it
  pawl session guide --format md > GUIDE.md
  pawl session guide --tree gates.svg --symptoms symptoms.svg`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.format, "format", "text", "`text` or md")
	fl.StringVar(&f.html, "html", "", "write a page to this `file`")
	fl.StringVar(&f.gpu, "gpu", "", "show the limits of this `card`, such as L4 (default: the session's, or the GPU of this machine)")
	fl.StringVar(&f.tree, "tree", "", "draw phases and gates to this SVG `file`")
	fl.StringVar(&f.symptoms, "symptoms", "", "draw symptoms and fixes to this SVG `file`")
	return cmd
}

func (f *guideFlags) run(ctx context.Context) error {
	if f.format != "text" && f.format != "md" {
		return command.Usage(fmt.Errorf("--format %.20q: must be text or md; use --html FILE for a page", f.format))
	}
	if f.tree != "" || f.symptoms != "" {
		return f.pictures()
	}
	state, err := f.pageState(ctx)
	if err != nil {
		return err
	}
	guide := page.Guide{State: state}
	if guide.Device, err = f.device(ctx, state.Session); err != nil {
		return err
	}
	switch {
	case f.html != "":
		return env.WriteFile(f.html, guide.HTML)
	case f.format == "md":
		return guide.Markdown(f.Out)
	default:
		return guide.Terminal(f.Out, f.Style())
	}
}

// pictures draws the requested trees. They show pawl's own gates and rules, not a session.
func (f *guideFlags) pictures() error {
	for _, p := range []struct {
		file string
		draw func() string
	}{
		{f.tree, func() string { return page.Tree(gates.All()) }},
		{f.symptoms, func() string { return page.Symptoms(diagnose.Rules()) }},
	} {
		if p.file == "" {
			continue
		}
		if !strings.HasSuffix(p.file, ".svg") {
			return command.Usage(fmt.Errorf("%s: the file name must end in .svg: name it %s.svg", p.file, p.file))
		}
		if err := env.WriteFile(p.file, func(w io.Writer) error { _, err := io.WriteString(w, p.draw()); return err }); err != nil {
			return err
		}
	}
	return nil
}

// device returns the card whose limits are shown: the one of --gpu, that of the session, or the one
// in this machine; nil if there is none.
func (f *guideFlags) device(ctx context.Context, s *journal.Session) (*page.Device, error) {
	switch {
	case f.gpu != "":
		found, err := explain.FindHardware(f.gpu)
		if err != nil {
			return nil, err
		}
		if len(found.Cards) > 1 {
			return nil, command.Usage(fmt.Errorf("--gpu %s is ambiguous: it matches %s; name one", f.gpu, explain.Names(found.Cards)))
		}
		return deviceOf(found), nil
	case s != nil && (s.Device != "" || s.GPU != ""):
		for _, name := range []string{s.Device, s.GPU} {
			if found, err := explain.FindHardware(name); err == nil && name != "" && len(found.Cards) <= 1 {
				return deviceOf(found), nil
			}
		}
		return nil, nil // pawl has no limits for a CPU
	}
	found, err := explain.RequestedHardware(ctx, nil)
	if err != nil || found.Local.Identity == nil {
		return nil, nil //nolint:nilerr,nilnil // the guide is useful without a device
	}
	return deviceOf(found), nil
}

func deviceOf(h explain.Hardware) *page.Device {
	arch := h.Archs[0]
	name := arch.Name
	var card *gpu.Card
	if len(h.Cards) > 0 {
		card = &h.Cards[0]
		name = card.Name
	}
	return page.NewDevice(name, card, arch)
}

package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
	"github.com/goatnote-inc/pawl/internal/learn/page"
)

// guideFlags are the flags of pawl session guide.
type guideFlags struct {
	*globals
	format, html, gpu string
}

func newGuide(g *globals) *cobra.Command {
	f := guideFlags{globals: g}
	cmd := &cobra.Command{
		Use:   "guide",
		Short: "Show rules, gates, commands and limits on one page",
		Long: `Shows one page with what to do now, the gates, the rules, the commands, and the limits of
the device. --html writes a page that prints on one sheet.`,
		Example: `  pawl session guide
  pawl session guide --gpu L4
  pawl session guide --html guide.html          # print it
  pawl session guide --format md > GUIDE.md`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.format, "format", "text", "`text` or md")
	fl.StringVar(&f.html, "html", "", "write a page to this `file`")
	fl.StringVar(&f.gpu, "gpu", "", "show the limits of this `card`, such as L4 (default: the session's, or the GPU of this machine)")
	return cmd
}

func (f *guideFlags) run(ctx context.Context) error {
	if f.format != "text" && f.format != "md" {
		return command.Usage(fmt.Errorf("--format %.20q: must be text or md; use --html FILE for a page", f.format))
	}
	state, err := f.pageState(ctx)
	if err != nil {
		return err
	}
	device, err := f.device(ctx, state.Session)
	if err != nil {
		return err
	}
	guide := page.Guide(state, device)
	if f.format == "md" {
		return guide.Markdown(f.Out)
	}
	return f.showPage(guide, f.html)
}

// device returns the card whose limits are shown: the one of --gpu, that of the session, or the one
// in this machine; nil if there is none.
func (f *guideFlags) device(ctx context.Context, s *journal.Session) (*page.Section, error) {
	switch {
	case f.gpu != "":
		found, err := findHardware(f.gpu)
		if err != nil {
			return nil, err
		}
		if len(found.cards) > 1 {
			return nil, command.Usage(fmt.Errorf("--gpu %s is ambiguous: it matches %s; name one", f.gpu, names(found.cards)))
		}
		return deviceOf(found), nil
	case s != nil && (s.Device != "" || s.GPU != ""):
		for _, name := range []string{s.Device, s.GPU} {
			if found, err := findHardware(name); err == nil && name != "" && len(found.cards) <= 1 {
				return deviceOf(found), nil
			}
		}
		return nil, nil // pawl has no limits for a CPU
	}
	found, err := requestedHardware(ctx, nil)
	if err != nil || found.local.identity == nil {
		return nil, nil //nolint:nilerr,nilnil // the guide is useful without a device
	}
	return deviceOf(found), nil
}

func deviceOf(h hardware) *page.Section {
	arch := h.archs[0]
	name := arch.Name
	var card *gpu.Card
	if len(h.cards) > 0 {
		card = &h.cards[0]
		name = card.Name
	}
	return page.Limits(name, card, arch)
}

package diagnose

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
)

// What an expert says first of the real report of a sparse matrix product on an L4.
func TestL4ReportSaysWhatAnExpertWould(t *testing.T) {
	data := os.Getenv("PAWL_DATA")
	if data == "" {
		t.Skip("PAWL_DATA is not set: no recorded reports")
	}
	f, err := os.Open(filepath.Join(data, "ncu", "bsr_spmm_l4_details.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := profile.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	card := gpu.FindCards("L4")[0]
	s, err := NewSubject(p, &card)
	if err != nil {
		t.Fatal(err)
	}
	d := Rules().Diagnose(s)
	t.Logf("%s\n%s\n%v\n%v", strings.Join(d.Lines, "\n"), d.Sentence, d.Findings[0].Fixes, d.Missing)
	if d.Bottleneck != Memory || d.Findings[0].Rule != "occupancy-registers" {
		t.Errorf("got %s and %s first, want memory and occupancy-registers", d.Bottleneck, d.Findings[0].Rule)
	}
	first := strings.Join(d.Lines[:2], " ")
	for _, want := range []string{"DRAM at 71 %", "egisters (168 per thread)", "shared memory (32", "one block per SM", "16.7 % occupancy"} {
		if !strings.Contains(first, want) {
			t.Errorf("the first two lines have no %q:\n%s", want, first)
		}
	}
	if len(d.Missing) == 0 {
		t.Error("the text page has no stall reasons, and the diagnosis does not say so")
	}
}

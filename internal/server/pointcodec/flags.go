package pointcodec

import (
	"fmt"
	"slices"

	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// Flags holds the properties of a point besides its numbers, in seven bits: trust in bits 0 and 1, the
// verdict in bits 2 to 5, and in bit 6 whether the baseline moved to it.
type Flags int16

const (
	trustBits    = 0b11
	verdictShift = 2
	verdictBits  = 0b1111
	movedBit     = 1 << 6
	allBits      = movedBit<<1 - 1
)

// The order defines the stored numbers: append only, never change.
var (
	trusts   = [...]measure.Trust{measure.Checked, measure.Trusted, measure.SelfTimed, measure.TrustImported}
	verdicts = [...]ratchet.Verdict{
		"", ratchet.Identical, ratchet.Maintained, ratchet.Improvement, ratchet.Regression,
		ratchet.Inconclusive, ratchet.New, ratchet.Missing, ratchet.Broken,
	}
)

// Pack encodes the properties of a point. An unknown word is an error, because it would be read as
// another one.
func Pack(trust measure.Trust, verdict ratchet.Verdict, moved bool) (Flags, error) {
	t, err := place(trusts[:], trust, "trust level")
	if err != nil {
		return 0, err
	}
	v, err := place(verdicts[:], verdict, "verdict")
	if err != nil {
		return 0, err
	}
	f := Flags(t | v<<verdictShift)
	if moved {
		f |= movedBit
	}
	return f, nil
}

func place[T ~string](words []T, word T, what string) (int, error) {
	if i := slices.Index(words, word); i >= 0 {
		return i, nil
	}
	return 0, fmt.Errorf("unknown %s %q", what, string(word))
}

// Valid reports whether Pack could have made the flags.
func (f Flags) Valid() bool {
	return f >= 0 && f <= allBits && int(f>>verdictShift&verdictBits) < len(verdicts)
}

// Trust returns how far the numbers can be trusted.
func (f Flags) Trust() measure.Trust { return trusts[f&trustBits] }

// Verdict returns the run's verdict on the point; empty if it was not judged.
func (f Flags) Verdict() ratchet.Verdict {
	if v := int(f >> verdictShift & verdictBits); v < len(verdicts) {
		return verdicts[v]
	}
	return ""
}

// Moved reports whether the baseline moved to the point.
func (f Flags) Moved() bool { return f&movedBit != 0 }

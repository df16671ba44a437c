package diagnose

import (
	"errors"
	"math"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
)

// NewSubject extracts from a profile what a diagnosis needs: the facts of the main launch. card is nil if
// pawl does not know the device.
func NewSubject(p *profile.Profile, card *gpu.Card) (Subject, error) {
	if p == nil {
		return Subject{}, errors.New("cannot diagnose: there is no profile")
	}
	launch, ok := p.Main()
	if !ok {
		return Subject{}, errors.New("cannot diagnose: the profile has no kernel launch; check the name of the kernel, and that it ran under the tool")
	}
	if card == nil {
		if c, ok := gpu.CardFor(p.Subject.Device); ok {
			card = &c
		}
	}
	return Subject{Profile: p, Launch: launch, Facts: launch.Facts(), Card: card}, nil
}

// cacheLine is the size of a cache line of the host in bytes.
const cacheLine = 64

// values returns the facts and the quantities derived from them.
func (s Subject) values() values {
	v := make(values, len(s.Facts)+len(derived))
	for name, x := range s.Facts {
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			v[name] = x
		}
	}
	if misses, ok := v.get("host_l1_misses"); ok && s.Profile != nil && s.Profile.Subject.Bytes > 0 {
		v["host_l1_traffic"] = cacheLine * misses / s.Profile.Subject.Bytes
	}
	arch := s.arch()
	if s.Card != nil && s.Card.Kind() == gpu.AMD {
		deriveAMD(v, *s.Card, arch)
	}
	derive(v, arch)
	return v
}

// All returns the facts and the quantities derived from them: every known quantity that a rule may use.
func (s Subject) All() profile.Facts {
	facts, v := profile.Facts{}, s.values()
	for name := range v {
		if x, ok := v.get(name); ok {
			facts[name] = x
		}
	}
	return facts
}

// arch returns the architecture of the launch; nil if pawl does not know it.
func (s Subject) arch() *gpu.Arch {
	name := s.Launch.CC
	if name == "" && s.Card != nil {
		name = s.Card.Arch
	}
	if name == "" {
		return nil
	}
	a, err := gpu.FindAnyArch(name)
	if err != nil {
		return nil
	}
	return &a
}

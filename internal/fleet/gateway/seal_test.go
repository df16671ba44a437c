package gateway

import (
	"bytes"
	"testing"
)

func testSealer(t testing.TB, secret, namespace string) sealer {
	t.Helper()
	s, err := newSealer(bytes.Repeat([]byte(secret), 32), namespace)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSealer_OpensOnlyForItsAgent(t *testing.T) {
	g := grant{Lease: "lease-1", Token: []byte("raw"), Project: "kernels", Bundle: "b", Until: 7}
	s := testSealer(t, "s", "ns")
	sealed, err := s.seal("1", g)
	if err != nil {
		t.Fatal(err)
	}
	again, err := testSealer(t, "s", "ns").open("1", sealed) // after a restart
	if err != nil || again.Lease != g.Lease || !bytes.Equal(again.Token, g.Token) || again.Project != g.Project || again.Bundle != g.Bundle || again.Until != g.Until {
		t.Errorf("opened %+v, %v", again, err)
	}
	for name, open := range map[string]func() (grant, error){
		"another agent":     func() (grant, error) { return s.open("2", sealed) },
		"no agent":          func() (grant, error) { return s.open("", sealed) },
		"another namespace": func() (grant, error) { return testSealer(t, "s", "other").open("1", sealed) },
		"another secret":    func() (grant, error) { return testSealer(t, "t", "ns").open("1", sealed) },
		"another lease": func() (grant, error) {
			return s.open("1", bytes.Replace(bytes.Clone(sealed), []byte("lease-1"), []byte("lease-2"), 1))
		},
		"shifted fields": func() (grant, error) { return testSealer(t, "s", "ns1").open("", sealed) },
	} {
		if got, err := open(); err == nil || got.Token != nil {
			t.Errorf("%s: opened %+v", name, got)
		}
	}
	for name, bad := range map[string]grant{
		"no name": {Token: []byte("x")}, "a long name": {Lease: string(bytes.Repeat([]byte("x"), 256))}, "a huge token": {Lease: "l", Token: make([]byte, maxSealed)},
	} {
		if _, err := s.seal("1", bad); err == nil {
			t.Errorf("a lease with %s was sealed", name)
		}
	}
}

// Whatever an agent sends as a token opens nothing that was not sealed for it.
func FuzzOpen(f *testing.F) {
	s := testSealer(f, "s", "ns")
	mine, err := s.seal("1", grant{Lease: "lease-1", Token: []byte("raw")})
	if err != nil {
		f.Fatal(err)
	}
	theirs, err := s.seal("2", grant{Lease: "lease-1", Token: []byte("theirs")})
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range [][]byte{mine, theirs, nil, {1}, {1, 255}, {1, 0}, {2, 0, 0}, append(bytes.Clone(mine), 0), mine[:len(mine)-1]} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, sealed []byte) {
		g, err := s.open("1", sealed)
		if err == nil && (g.Lease != "lease-1" || string(g.Token) != "raw") { // workers seal the same with other nonces
			t.Errorf("%x opened as %+v", sealed, g)
		}
		if err != nil && g.Token != nil {
			t.Errorf("%x was refused with a token", sealed)
		}
	})
}

package store_test

import (
	"slices"
	"strings"
	"testing"
)

// With a key, a log that was written anew without it is found.
func TestAuditKey_DetectsAForgedLog(t *testing.T) {
	s, url := opened(t)
	p := projectNamed(t, s, "kernels")
	add := func(action string) {
		t.Helper()
		if err := s.Audit(t.Context(), p, "ada", action, nil); err != nil {
			t.Fatal(err)
		}
	}
	verified := func(says string) {
		t.Helper()
		_, err := s.VerifyAudit(t.Context(), p)
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
	add("one")
	add("two")
	verified("")
	key := []byte(strings.Repeat("k", 32))
	s.SetAuditKey(key)
	verified("is not signed")
	for _, want := range [][]int64{{p}, nil} { // once
		if sealed, err := s.SealAudit(t.Context()); err != nil || !slices.Equal(sealed, want) {
			t.Errorf("sealed %v, %v", sealed, err)
		}
	}
	add("four")
	verified("")
	s.SetAuditKey([]byte(strings.Repeat("x", 32)))
	verified("line 3")
	s.SetAuditKey(nil)
	verified("audit.key is not the one")
	add("five, without the key")
	s.SetAuditKey(key)
	verified("line 5")
	// All lines anew, without the key: every hash fits, and the signatures are missing.
	if _, err := owner(t, url).Exec(t.Context(), `delete from pawl.audit`); err != nil {
		t.Fatal(err)
	}
	s.SetAuditKey(nil)
	add("forged")
	verified("")
	s.SetAuditKey(key)
	verified("is not signed")
}

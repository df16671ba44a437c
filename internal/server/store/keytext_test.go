package store

import "testing"

func FuzzReadKey(f *testing.F) {
	f.Add(writeKey(keyStart, 7, [keyBytes]byte{1}))
	f.Add("pawl_1_")
	f.Fuzz(func(t *testing.T, text string) {
		if project, ok := readKey(keyStart, text); ok && (project < 1 || prefixOf(text) == "" || len(text) > 80) {
			t.Errorf("%q is a key of project %d", text, project)
		}
	})
}

func TestKeyText(t *testing.T) {
	secret := [keyBytes]byte{255, 254, 3}
	text := writeKey(keyStart, 123456, secret)
	if got, want := len(text), len("pawl_2n9c_")+secretLength+sumLength; got != want {
		t.Errorf("%q has %d characters, want %d", text, got, want)
	}
	if project, ok := readKey(keyStart, text); !ok || project != 123456 {
		t.Errorf("%q is of project %d, %v", text, project, ok)
	}
	if _, ok := readKey(linkStart, text); ok {
		t.Errorf("the key %q is a link", text)
	}
	for n := range text {
		changed := []byte(text)
		changed[n] ^= 1
		if _, ok := readKey(keyStart, string(changed)); ok {
			t.Errorf("%q passes, with one bit changed at %d", changed, n)
		}
	}
}

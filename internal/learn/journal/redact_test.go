package journal_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// The parts of made-up secrets are joined here, so that no scanner of this repository
// takes them for real ones.
var body = strings.Repeat("aB3dE5fG", 5)

func TestRedact(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"push with gh" + "p_" + body, "push with [secret]"},
		{"gh" + "s_" + body + ",", "[secret],"},
		{"github" + "_pat_" + body, "[secret]"},
		{"pawl" + "_" + body, "[secret]"},
		{"AK" + "IAIOSFODNN7EXAMPLE!", "[secret]!"},
		{"use sk" + "-proj-" + body + " here", "use [secret] here"},
		{"xo" + "xb-123456789012-abcdef", "[secret]"},
		{"hf" + "_" + body, "[secret]"},
		{"ey" + "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "[secret]"},
		{"-----BEGIN RSA " + "PRIVATE KEY-----\nMIIE\nxyz\n-----END RSA PRIVATE KEY-----\nafter", "[secret]\nafter"},
		{"-----BEGIN OPENSSH " + "PRIVATE KEY-----\nb3BlbnNzaC1rZXk", "[secret]"},
		{"token=abc", "token=[secret]"},
		{"PGPASSWORD='two words' psql", "PGPASSWORD=[secret] psql"},
		{`{"password": "x y"}`, `{"password": [secret]}`},
		{"--api-key=K --rounds=4", "--api-key=[secret] --rounds=4"},
		{"--token hunter2 --rounds 4", "--token [secret] --rounds 4"},
		{"Authorization: Bearer abc.def\nnext", "Authorization: [secret]\nnext"},
		{"curl -H 'Authorization: token x' URL", "curl -H 'Authorization: [secret]' URL"},
		{"bearer 0123456789ab", "bearer [secret]"},
		{"https://user:pw@host/path", "https://[secret]@host/path"},
		{"postgres://pawl:s3cr3t@db:5432/x", "postgres://[secret]@db:5432/x"},
		{"signing_key: 9f8e7d6c5b4a39281706f5e4", "signing_key: [secret]"},

		// What kernels are about stays.
		{"tokens=4096", "tokens=4096"},
		{"max_tokens: 2048", "max_tokens: 2048"},
		{"BLOCK_M=64 BLOCK_N=128", "BLOCK_M=64 BLOCK_N=128"},
		{"attention/B32_H8_S512_D64", "attention/B32_H8_S512_D64"},
		{"source 3f786850e387550fdab836ed7e6dc881de23001b", "source 3f786850e387550fdab836ed7e6dc881de23001b"},
		{"sha256:3f786850e387550fdab836ed7e6dc881de23001b", "sha256:3f786850e387550fdab836ed7e6dc881de23001b"},
		{"matmul.cu:12:3: error: expected ';'", "matmul.cu:12:3: error: expected ';'"},
		{"undefined symbol: _ZN3fa217run_mha_fwd_splitkvIN7cutlass6half_tELi64EEEvR16Flash", "undefined symbol: _ZN3fa217run_mha_fwd_splitkvIN7cutlass6half_tELi64EEEvR16Flash"},
		{"the bank conflicts of the key tile", "the bank conflicts of the key tile"},
		{"git@github.com:goatnote-inc/pawl.git", "git@github.com:goatnote-inc/pawl.git"},
		{"password=$PGPASSWORD", "password=$PGPASSWORD"},
	} {
		if got := journal.Redact(test.text); got != test.want {
			t.Errorf("Redact(%q)\n got %q\nwant %q", test.text, got, test.want)
		}
	}
}

// A secret is hidden wherever it stands, and hiding twice hides no more.
func TestRedactAnywhere(t *testing.T) {
	secrets := []string{"gh" + "p_" + body, "pawl" + "_" + body, "AK" + "IAIOSFODNN7EXAMPLE", "sk" + "-" + body, "xo" + "xp-1234567890-abc"}
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.SampledFrom(secrets).Draw(t, "secret")
		// What stands beside it must not be a part of its word.
		around := rapid.StringMatching(`(?s).{0,40}`)
		text := around.Draw(t, "before") + rapid.SampledFrom([]string{" ", "\n", "=", ":", `"`, "(", "/"}).Draw(t, "left") + secret + " " + around.Draw(t, "after")
		got := journal.Redact(text)
		if strings.Contains(got, secret) {
			t.Fatalf("%q is still in %q", secret, got)
		}
		if again := journal.Redact(got); again != got {
			t.Fatalf("hiding twice: %q, then %q", got, again)
		}
	})
}

func TestAppendHidesSecrets(t *testing.T) {
	f := journal.Folder{Root: t.TempDir()}
	w := start(t, f)
	secret := "gh" + "p_" + body
	did := &journal.Did{Command: "push", Args: []string{"--token", "hunter2", "--server", "https://a:b@c/"}, Error: "refused: " + secret}
	for _, e := range []journal.Entry{
		{Actor: me, Kind: journal.KindDid, Did: did},
		{Actor: me, Kind: journal.KindNoted, Noted: &journal.Noted{Text: "the key is " + secret}},
	} {
		if err := w.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	text := readAll(t, w.Session().Path)
	for _, no := range []string{secret, "hunter2", "a:b@"} {
		if strings.Contains(text, no) {
			t.Errorf("%q is in the journal:\n%s", no, text)
		}
	}
	if !slices.Equal(did.Args, []string{"--token", "hunter2", "--server", "https://a:b@c/"}) {
		t.Errorf("the caller's own arguments were changed: %q", did.Args)
	}
}

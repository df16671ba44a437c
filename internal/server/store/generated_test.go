package store_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Package db is what sqlc made of these files, or scripts/generate has to run.
func TestGeneratedIsNotStale(t *testing.T) {
	files := []string{"sqlc.yaml"}
	for _, pattern := range []string{"migrations/*.sql", "queries/*.sql"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(found)
		files = append(files, found...)
	}
	sum := sha256.New()
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		sum.Write(text)
	}
	kept, err := os.ReadFile("db/inputs.sha256")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := hex.EncodeToString(sum.Sum(nil)), strings.TrimSpace(string(kept)); got != want {
		t.Errorf("internal/server/store/db was made from other migrations or queries: run scripts/generate")
	}
}

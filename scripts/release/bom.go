package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// bill is a list of components in the format CycloneDX.
type bill struct {
	BomFormat   string      `json:"bomFormat"`
	SpecVersion string      `json:"specVersion"`
	Version     int         `json:"version"`
	Metadata    billSubject `json:"metadata"`
	Components  []component `json:"components"`
}

type billSubject struct {
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Name       string     `json:"name"`
	Version    string     `json:"version,omitempty"`
	PURL       string     `json:"purl,omitempty"`
	Hashes     []billHash `json:"hashes,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type billHash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// newBill lists the components of what data is.
func newBill(kind, name string, data []byte, components []component) ([]byte, error) {
	sum := sha256.Sum256(data)
	subject := component{Type: kind, Name: name, Hashes: []billHash{{"SHA-256", hex.EncodeToString(sum[:])}}}
	text, err := json.MarshalIndent(bill{"CycloneDX", "1.6", 1, billSubject{subject}, components}, "", "  ")
	return append(text, '\n'), err
}

// moduleBOM lists the modules of a binary with their checksums. It is read from the binary, so it says what was linked.
func moduleBOM(b *binary) ([]byte, error) {
	goVersion := b.info.GoVersion
	list := []component{{Type: "library", Name: "std", Version: goVersion, PURL: "pkg:golang/std@" + strings.TrimPrefix(goVersion, "go")}}
	for _, m := range b.info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		list = append(list, component{
			Type: "library", Name: m.Path, Version: m.Version, PURL: "pkg:golang/" + m.Path + "@" + m.Version,
			Properties: []property{{"go:sum", m.Sum}},
		})
	}
	return newBill("application", b.info.Path, b.data, list)
}

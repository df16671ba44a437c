package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// layer is a layer of an image: an archive, compressed, and the SHA-256 of the archive.
type layer struct {
	packed []byte
	diffID string
}

func newLayer(archive []byte) (layer, error) {
	packed, err := compress(archive)
	return layer{packed, digestOf(archive)}, err
}

// runConfig is how a container of an image starts.
type runConfig struct {
	User         string              `json:"User,omitempty"`
	ExposedPorts map[string]struct{} `json:"ExposedPorts,omitempty"`
	Env          []string            `json:"Env,omitempty"`
	Entrypoint   []string            `json:"Entrypoint,omitempty"`
	Cmd          []string            `json:"Cmd,omitempty"`
	Volumes      map[string]struct{} `json:"Volumes,omitempty"`
	WorkingDir   string              `json:"WorkingDir,omitempty"`
	Labels       map[string]string   `json:"Labels,omitempty"`
	StopSignal   string              `json:"StopSignal,omitempty"`
}

type imageConfig struct {
	Architecture string    `json:"architecture"`
	OS           string    `json:"os"`
	Config       runConfig `json:"config"`
	RootFS       rootFS    `json:"rootfs"`
}

type rootFS struct {
	Type    string   `json:"type"`
	DiffIDs []string `json:"diff_ids"`
}

// descriptor names a blob of an image.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type manifest struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Config        descriptor   `json:"config"`
	Layers        []descriptor `json:"layers"`
}

type index struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Manifests     []descriptor `json:"manifests"`
}

// mediaType is the start of the names of the formats.
const mediaType = "application/vnd.oci.image."

// ociArchive returns an image as an archive in the layout of OCI, which docker load, podman load and skopeo read.
func ociArchive(version, arch string, run runConfig, layers []layer) ([]byte, error) {
	var files []file
	blob := func(kind string, data []byte) descriptor {
		d := descriptor{MediaType: mediaType + kind, Digest: digestOf(data), Size: len(data)}
		files = append(files, file{name: "blobs/sha256/" + d.Digest[len("sha256:"):], data: data})
		return d
	}
	document := func(kind string, v any) (descriptor, error) {
		text, err := json.Marshal(v)
		return blob(kind, text), err
	}
	config := imageConfig{Architecture: arch, OS: "linux", Config: run, RootFS: rootFS{Type: "layers"}}
	m := manifest{SchemaVersion: 2, MediaType: mediaType + "manifest.v1+json"}
	for _, l := range layers {
		config.RootFS.DiffIDs = append(config.RootFS.DiffIDs, l.diffID)
		m.Layers = append(m.Layers, blob("layer.v1.tar+gzip", l.packed))
	}
	var err error
	if m.Config, err = document("config.v1+json", config); err != nil {
		return nil, err
	}
	top, err := document("manifest.v1+json", m)
	if err != nil {
		return nil, err
	}
	top.Annotations = map[string]string{"org.opencontainers.image.ref.name": version}
	text, err := json.Marshal(index{2, mediaType + "index.v1+json", []descriptor{top}})
	if err != nil {
		return nil, err
	}
	return tarFiles(append(files, file{name: "index.json", data: text}, file{name: "oci-layout", data: []byte(`{"imageLayoutVersion":"1.0.0"}`)}))
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

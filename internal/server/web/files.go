package web

import (
	"fmt"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/words"
)

// FileLink is a file of a run to download.
type FileLink struct {
	URL, Text, Size string
}

// Files returns the files that were sent with the run. The first one is the whole record, put together from them.
func (r Run) Files() []FileLink {
	base := "/v1/projects/" + r.Project.Slug
	var list []FileLink
	for _, b := range r.Run.Blobs {
		if b.Kind == client.BlobRecord {
			list = append(list, FileLink{fmt.Sprintf("%s/runs/%d/record", base, r.Run.ID), "whole record, JSON", ""})
		}
	}
	for _, b := range r.Run.Blobs {
		text := string(b.Kind)
		if b.Name != "" {
			text += ", " + words.Sanitize(b.Name)
		}
		list = append(list, FileLink{base + "/blobs/" + b.Digest, text, words.Bytes(b.Size)})
	}
	return list
}

package server

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/server/parquet"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

// export writes all data of a project, as fast as the client reads. Once started, the response cannot become
// an error: it is cut off, and its last line is missing.
func (s *Server) export(w http.ResponseWriter, r *http.Request, p store.Project) error {
	q := ask(r, "format")
	format := cmp.Or(q.oneOf("format", "jsonl", "parquet"), "jsonl")
	if q.err != nil {
		return q.err
	}
	if !s.exports.try(p.ID, 1) {
		return problem(http.StatusServiceUnavailable, "busy", "too many exports are running: try again when one has ended").after(30 * time.Second)
	}
	defer s.exports.give(p.ID, 1)
	if err := s.audit(r, p, "project.export", map[string]string{"format": format}); err != nil {
		return err
	}
	if format == "parquet" {
		return s.exportPoints(w, r, p)
	}
	w.Header().Set("Content-Type", "application/jsonl")
	w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s.jsonl"`, p.Slug))
	if err := s.store.Export(r.Context(), p.ID, w); err != nil {
		s.abortResponse(r, "an export", err)
	}
	_, _ = io.WriteString(w, store.ExportEnd)
	return nil
}

// exportPoints writes the points of a project as one Parquet file. A file that is cut off has no footer,
// so no reader accepts it.
func (s *Server) exportPoints(w http.ResponseWriter, r *http.Request, p store.Project) error {
	w.Header().Set("Content-Type", "application/vnd.apache.parquet")
	w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s.parquet"`, p.Slug))
	out := parquet.NewWriter(w, p.Slug)
	err := s.store.EachPoint(r.Context(), p.ID, out.Write)
	if err == nil {
		err = out.Close()
	}
	if err != nil {
		s.abortResponse(r, "an export of points", err)
	}
	return nil
}

// deletedAnswer is the response to a deletion: what was removed.
type deletedAnswer struct {
	Project string `json:"project"`
	store.Deleted
}

// deleteProject deletes a project with all its data. It continues if the client disconnects. The project is
// hidden from the start. If the server dies meanwhile, retention finishes the deletion.
func (s *Server) deleteProject(w http.ResponseWriter, r *http.Request, p store.Project) error {
	q := ask(r, "confirm")
	if q.err != nil {
		return q.err
	}
	if q.text("confirm") != p.Slug {
		return badRequest("this deletes the project and all its data: confirm with ?confirm=%s", words.Sanitize(p.Slug))
	}
	if err := s.audit(r, p, "project.delete", map[string]string{"slug": p.Slug}); err != nil {
		return err
	}
	went, err := s.store.DeleteProject(context.WithoutCancel(r.Context()), p.ID, s.blobs.Delete)
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, deletedAnswer{p.Slug, went})
}

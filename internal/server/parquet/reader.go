package parquet

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
)

// Read returns all rows of a file that a Writer wrote. Use it only for small files.
func Read(r io.ReaderAt, size int64) ([]Row, error) {
	rows, err := parquet.Read[Row](r, size)
	if err != nil {
		return nil, fmt.Errorf("cannot read points from Parquet: %w", err)
	}
	return rows, nil
}

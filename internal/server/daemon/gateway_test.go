package daemon

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/server/store/storetest"
)

// Agents can enroll while Temporal is away, and with a code only.
func TestServe_Agents(t *testing.T) {
	t.Parallel()
	p := startServe(t, storetest.URL(t), "PAWLD_FLEET_ADDRESS=127.0.0.1:1", "PAWLD_FLEET_LISTEN=127.0.0.1:0", "PAWLD_FLEET_SECRET="+strings.Repeat("s", 32))
	at := url.URL{Scheme: "http", Path: "/v1/fleet/enroll"}
	p.wait(t, func(line map[string]any) bool {
		if line["msg"] != "listening for agents" {
			return false
		}
		at.Host, _ = line["address"].(string)
		return true
	})
	client := &http.Client{Timeout: await.Limit}
	for body, want := range map[string]int{
		`{"code":"guess","key":"` + strings.Repeat("0", 64) + `","model":"cpu","devices":["cpu:0"]}`: http.StatusForbidden,
		`{"code":"guess"}`: http.StatusBadRequest,
	} {
		res, err := client.Post(at.String(), "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s: %s, want %d", body, res.Status, want)
		}
	}
}

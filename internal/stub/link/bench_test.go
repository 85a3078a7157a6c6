package link

import (
	"context"
	"crypto/tls"
	"net"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/ssmctl/ssmctl/internal/brick/brickd"
	"github.com/ssmctl/ssmctl/internal/profile"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/wire/secure"
)

// BenchmarkTLS is what TLS costs: puts and gets of 8 KiB (the published size) on one native
// brick over loopback, stub and brick in one process. Rounds with TLS and without alternate,
// so what else the machine does hits both. Times are per operation; cpu is of stub and brick together.
func BenchmarkTLS(b *testing.B) {
	for _, inFlight := range []int{1, 32} {
		b.Run("in-flight="+strconv.Itoa(inFlight), func(b *testing.B) {
			server, client := newMember(b)
			plain, guarded := newBench(b, nil, nil, inFlight), newBench(b, server, client, inFlight)
			for b.Loop() {
				plain.round()
				guarded.round()
			}
			b.ReportMetric(0, "ns/op") // of both together: nobody's
			plain.report(b, "plain")
			guarded.report(b, "tls")
			b.ReportMetric(float64(guarded.wall)/float64(plain.wall), "ratio")
			b.ReportMetric(float64(guarded.cpu)/float64(plain.cpu), "cpu-ratio")
		})
	}
}

const benchSize, perRound = 8 << 10, 256

// bench is a stub and a brick, and what they have used.
type bench struct {
	link    *Link
	up      chan struct{}
	replies chan session.Status
	free    int // requests that may still be sent
	value   []byte

	rounds    int
	wall, cpu time.Duration
	allocs    uint64
}

func newBench(b *testing.B, server, client *tls.Config, inFlight int) *bench {
	b.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	served := make(chan error, 1)
	d := brickd.New(brickd.Config{ID: brick, Profile: profile.Profile{Processor: profile.Processor{Kind: profile.Native}}})
	go func() { served <- d.Serve(ctx, secure.Listen(ln, server)) }()
	s := &bench{
		up: make(chan struct{}), replies: make(chan session.Status, inFlight), free: inFlight, value: make([]byte, benchSize),
	}
	s.link = Open(brick, ln.Addr().String(), client, s)
	b.Cleanup(func() {
		s.link.Close()
		cancel()
		if err := <-served; err != nil {
			b.Error(err)
		}
	})
	<-s.up
	s.round() // connections and buffers are warm
	s.rounds, s.wall, s.cpu, s.allocs = 0, 0, 0, 0
	return s
}

func (s *bench) Up(session.BrickID, protect.Setting)       { close(s.up) }
func (s *bench) Heard(session.BrickID, protect.Setting)    {}
func (s *bench) Share(session.BrickID, float64)            {}
func (s *bench) Lives(session.BrickID, time.Duration)      {}
func (s *bench) Reply(_ session.BrickID, r *session.Reply) { s.replies <- r.Status }
func (s *bench) Down(session.BrickID)                      {}

// round does as many puts as gets, each put before the get of the same state.
func (s *bench) round() {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu, began := cpuTime(), time.Now()
	put := session.Request{Op: session.Write, Version: 1, Expiry: 1, TTL: time.Minute, Timeout: time.Minute, Value: s.value}
	get := session.Request{Op: session.Read, Version: 1, Expiry: 1, Timeout: time.Minute}
	all := s.free
	for i := range perRound {
		put.Key, get.Key = session.Key(i), session.Key(i)
		put.Sum = session.Sum(put.Key, 1, 1, s.value)
		s.send(&put)
		s.send(&get)
	}
	for s.free < all {
		s.await()
	}
	s.wall += time.Since(began)
	s.cpu += cpuTime() - cpu
	runtime.ReadMemStats(&after)
	s.allocs += after.Mallocs - before.Mallocs
	s.rounds++
}

func (s *bench) send(r *session.Request) {
	if s.free == 0 {
		s.await()
	}
	s.free--
	s.link.Send(r)
}

func (s *bench) await() {
	if status := <-s.replies; status != session.Done {
		panic(status)
	}
	s.free++
}

func (s *bench) report(b *testing.B, name string) {
	ops := float64(s.rounds * 2 * perRound)
	b.ReportMetric(float64(s.wall)/ops, name+"-ns")
	b.ReportMetric(float64(s.cpu)/ops, name+"-cpu-ns")
	b.ReportMetric(float64(s.allocs)/ops, name+"-allocs")
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // never, for this process itself
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

package keep

import "sync"

// Share does n things in a few goroutines.
func Share(n int, do func(i int)) {
	const workers, chunk = 4, 64
	var all sync.WaitGroup
	next := make(chan int)
	for range workers {
		all.Go(func() {
			for from := range next {
				for i := from; i < min(n, from+chunk); i++ {
					do(i)
				}
			}
		})
	}
	for from := 0; from < n; from += chunk {
		next <- from
	}
	close(next)
	all.Wait()
}

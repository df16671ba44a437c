/* ---- the cache: lines of 4 KiB, the least recently used goes first ---- */

static int *bucket_of(device *d, uint64_t at) {
  return &d->buckets[(at * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (uint64_t)(d->bucket_count - 1)];
}

static void unlink_line(device *d, int n) {
  line *const l = &d->lines[n];
  if (l->newer >= 0) d->lines[l->newer].older = l->older;
  else d->newest[l->persists] = l->older;
  if (l->older >= 0) d->lines[l->older].newer = l->newer;
  else d->oldest[l->persists] = l->newer;
}

static void push_newest(device *d, int n, int persists) {
  line *const l = &d->lines[n];
  l->persists = persists;
  l->newer = -1;
  l->older = d->newest[persists];
  if (l->older >= 0) d->lines[l->older].newer = n;
  else d->oldest[persists] = n;
  d->newest[persists] = n;
}

static int evict(device *d) {
  const int n = d->oldest[0] >= 0 ? d->oldest[0] : d->oldest[1];
  int *at = bucket_of(d, d->lines[n].at);
  while (*at != n) at = &d->lines[*at].next;
  *at = d->lines[n].next;
  unlink_line(d, n);
  d->persisting -= d->lines[n].persists ? LINE : 0;
  kernel.missed += d->lines[n].dirty;
  return n;
}

/* Touches some bytes of one line. */
static void touch_line(device *d, uint64_t at, unsigned bytes, int writes, int persists) {
  int *const bucket = bucket_of(d, at), n = *bucket;
  while (n >= 0 && d->lines[n].at != at) n = d->lines[n].next;
  if (n >= 0) {
    unlink_line(d, n);
    persists |= d->lines[n].persists;
    d->persisting -= d->lines[n].persists ? LINE : 0;
  } else {
    if (!writes) kernel.missed += bytes;
    n = d->used < d->line_count ? d->used++ : evict(d);
    d->lines[n] = (line){.at = at, .next = *bucket};
    *bucket = n;
  }
  d->persisting += persists ? LINE : 0;
  push_newest(d, n, persists);
  if (writes) d->lines[n].dirty = d->lines[n].dirty + bytes < LINE ? d->lines[n].dirty + bytes : LINE;
}

static void touch(const void *memory, size_t bytes, int writes, int persists) {
  device *const d = vgpu.now;
  uint64_t at = (uint64_t)(uintptr_t)memory;
  const uint64_t end = at + bytes;
  kernel.through += (double)bytes;
  kernel.described = 1;
  while (at < end) {
    const uint64_t line_at = at / LINE * LINE, line_end = line_at + LINE < end ? line_at + LINE : end;
    const int kept = persists || (line_at >= d->window_from && line_at < d->window_to && d->persisting < d->set_aside);
    touch_line(d, line_at, (unsigned)(line_end - at), writes, kept);
    at = line_end;
  }
}

void vgpu_read(const void *from, size_t bytes) { touch(from, bytes, 0, 0); }
void vgpu_write(const void *to, size_t bytes) { touch(to, bytes, 1, 0); }
void vgpu_persist(const void *from, size_t bytes) { touch(from, bytes, 0, 1); }
void vgpu_bypass(const void *to, size_t bytes) {
  (void)to;
  kernel.missed += (double)bytes;
  kernel.described = 1;
}

void vgpu_window(const void *from, size_t bytes) {
  vgpu_wait();
  vgpu.now->window_from = (uint64_t)(uintptr_t)from / LINE * LINE;
  vgpu.now->window_to = bytes ? (uint64_t)(uintptr_t)from + bytes : 0;
}

void vgpu_set_aside(size_t bytes) {
  vgpu_wait();
  if (bytes || !vgpu.keeps_lines) vgpu.now->set_aside = bytes;
}

/* Lines that persisted become the oldest ordinary ones. */
void vgpu_forget_persisting(void) {
  device *const d = vgpu.now;
  int n;
  vgpu_wait();
  if (vgpu.keeps_lines) return;
  for (n = d->newest[1]; n >= 0; n = d->lines[n].older) d->lines[n].persists = 0;
  if (d->newest[1] < 0) return;
  d->lines[d->newest[1]].newer = d->oldest[0];
  if (d->oldest[0] >= 0) d->lines[d->oldest[0]].older = d->newest[1];
  else d->newest[0] = d->newest[1];
  d->oldest[0] = d->oldest[1];
  d->newest[1] = d->oldest[1] = -1;
  d->persisting = 0;
}


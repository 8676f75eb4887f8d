// SPDX-License-Identifier: MIT
//
// Made-up profiles: one that looks like that of a storage server in C++, and random ones of any size.
// Invariant: the same arguments give the same profile; nothing here reads clock or chance.

import { COMM, INLINED, KERNEL, USER } from './encode.mjs';

// A small generator of numbers from 0 to 1.
export function dice(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mix = Math.imul(state ^ (state >>> 15), state | 1);
    mix ^= mix + Math.imul(mix ^ (mix >>> 7), mix | 61);
    return ((mix ^ (mix >>> 14)) >>> 0) / 4294967296;
  };
}

const MODULES = {
  s: '/usr/lib/store/bin/stored', c: '/usr/lib/x86_64-linux-gnu/libc.so.6', k: '[kernel.kallsyms]',
  x: '/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30', z: '/usr/lib/x86_64-linux-gnu/libzstd.so.1.5.4',
  o: '/opt/vendor/libaccel.so', j: '[jit]', e: '[ext4]',
};

// id, module (i before it: inlined; u: no name), self, callees with weights; then the name.
const CALLS = `
start s 0 main:1 | _start
main s 1 accept:2,pool:30 | main
accept s 1 sys:6 | net::Acceptor::run()
pool s 1 work:30 | store::ThreadPool::worker_loop(unsigned int)
work s 1 task:40,futex:3 | std::__invoke_impl<void, void (store::ThreadPool::*)(unsigned int), store::ThreadPool*, unsigned int>(std::__invoke_memfun_deref, void (store::ThreadPool::*&&)(unsigned int), store::ThreadPool*&&, unsigned int&&)
task s 1 get:30,put:24,scan:16,parse:8 | store::Session::dispatch(store::Request const&)
parse s 3 hash:1,alloc:2,memcpy:2,utf:2 | store::proto::parse_request(std::span<unsigned char const>, store::Request&)
utf is 3 | store::proto::is_utf8(std::basic_string_view<char, std::char_traits<char> >)
get s 2 find:30,hash:3,reply:9 | store::Table::get(store::Slice const&, store::ReadOptions const&)
find s 2 cache:12,level:22,bloom:6 | store::Version::find(store::Slice const&, std::string*)
cache s 3 lock:4,cmp:4,hash:3 | store::LruCache<store::BlockKey, std::shared_ptr<store::Block>, store::BlockKeyHash>::lookup(store::BlockKey const&)
level s 2 seek:20,bloom:4,read:9 | store::LevelIterator::seek(store::Slice const&)
bloom is 6 hash:3 | store::BloomFilter::may_contain(unsigned long) const
seek s 4 cmp:18,decode:8,seek:5,read:4 | store::BlockIterator::seek(store::Slice const&)
cmp is 7 memcmp:6 | store::InternalKeyComparator::compare(store::Slice const&, store::Slice const&) const
decode s 6 varint:4 | store::Block::decode_entry(unsigned char const*, unsigned char const*)
varint is 4 | store::get_varint32(unsigned char const*, unsigned char const*, unsigned int*)
read s 1 pread:14,unzip:18,crc:7,alloc:2 | store::BlockReader::read(store::BlockHandle const&, store::Block*)
unzip z 2 huff:9,seq:14,memcpy:3 | ZSTD_decompressDCtx
huff z 9 | HUF_decompress4X1_usingDTable_internal_fast
seq z 12 memcpy:3 | ZSTD_decompressSequences_bmi2
crc s 6 accel:2 | store::crc32c::extend(unsigned int, char const*, unsigned long)
accel uo 5 | [libaccel.so]
put s 2 wal:14,mem:20,hash:2,reply:6,throttle:1 | store::Table::put(store::WriteOptions const&, store::Slice const&, store::Slice const&)
throttle s 1 futex:3 | store::WriteController::throttle()
wal s 2 write:11,crc:5,sync:5,memcpy:2 | store::log::Writer::append(store::Slice const&)
mem s 2 insert:18,alloc:5 | store::MemTable::add(unsigned long, store::ValueType, store::Slice const&, store::Slice const&)
insert s 9 cmp:14,insert:4,rand:1 | store::SkipList<char const*, store::MemTable::KeyComparator>::insert(char const* const&)
rand is 2 | store::Random::next()
scan s 3 merge:20,filter:9,reply:5 | store::Table::scan(store::Slice const&, store::Slice const&, store::ScanCallback)
merge s 4 heap:9,seek:8,merge:4,read:4 | store::MergingIterator::next()
heap is 6 cmp:6 | void std::__adjust_heap<__gnu_cxx::__normal_iterator<store::Iterator**, std::vector<store::Iterator*> >, long, store::Iterator*, __gnu_cxx::__ops::_Iter_comp_iter<store::MinKey> >(...)
filter uj 7 regex:3 | [jit]
regex x 4 regex:5,alloc:1 | std::__detail::_Executor<char const*, std::allocator<std::sub_match<char const*> >, std::regex_traits<char>, true>::_M_dfs(std::__detail::_Executor::_Match_mode, long)
hash s 5 | store::hash64(char const*, unsigned long, unsigned long)
reply s 2 send:10,memcpy:3,alloc:2,fmt:3 | store::Session::reply(store::Status const&, store::Slice const&)
fmt x 3 strlen:1,memcpy:1 | std::basic_ostream<char, std::char_traits<char> >& std::__ostream_insert<char, std::char_traits<char> >(std::basic_ostream<char, std::char_traits<char> >&, char const*, long)
strlen c 3 | __strlen_avx2
lock c 2 futex:2 | pthread_mutex_lock@@GLIBC_2.2.5
alloc x 1 malloc:6 | operator new(unsigned long)
malloc c 4 intmalloc:3 | malloc
intmalloc c 4 fault:2,mmap:1 | _int_malloc
memcpy c 6 fault:1 | __memmove_avx_unaligned_erms
memcmp c 7 | __memcmp_avx2_movbe
compact s 1 merge:20,emit:12,zip:12 | store::Compaction::run(store::CompactionState*)
emit s 2 write:6,crc:3,bloomadd:4,memcpy:2 | store::TableBuilder::add(store::Slice const&, store::Slice const&)
bloomadd is 3 hash:3 | store::BloomBuilder::add(store::Slice const&)
zip z 3 match:16,huffc:5 | ZSTD_compress2
match z 17 | ZSTD_compressBlock_doubleFast_dictMatchState
huffc z 6 | HUF_compress1X_usingCTable_internal_bmi2
pread c 0 sys:9 | pread64
write c 0 sys:9 | write
sync c 0 sys:9 | fdatasync
send c 0 sys:9 | __send
futex c 1 sys:3 | __lll_lock_wait
mmap c 0 sys:3 | mmap64
fault k 2 asm:6 | asm_exc_page_fault
asm k 1 handle:6 | do_user_addr_fault
handle k 2 anon:5 | handle_mm_fault
anon k 2 folio:4,clear:7 | do_anonymous_page
folio k 2 buddy:4 | vma_alloc_folio
buddy k 4 spin:2 | get_page_from_freelist
clear k 8 | clear_page_erms
sys k 1 do:20 | entry_SYSCALL_64_after_hwframe
do k 1 kread:8,kwrite:7,ksync:4,ksend:8,kfutex:3 | do_syscall_64
kread k 1 vfsread:8 | __x64_sys_pread64
vfsread k 1 ext4r:6 | vfs_read
ext4r ie 1 pagecache:8 | ext4_file_read_iter
pagecache k 3 copy:6,folioget:3,blk:2 | filemap_read
folioget k 3 | filemap_get_pages
copy k 8 | copy_user_enhanced_fast_string
blk k 1 nvme:4 | submit_bio_noacct
nvme k 4 spin:2 | nvme_queue_rq
kwrite k 1 vfswrite:6 | __x64_sys_write
vfswrite k 1 ext4w:6 | vfs_write
ext4w e 1 perform:6 | ext4_buffered_write_iter
perform k 2 copy:4,jbd:3,folioget:2 | generic_perform_write
jbd k 2 spin:2,kmalloc:1 | jbd2_journal_start
ksync k 1 ext4s:4 | __x64_sys_fdatasync
ext4s e 1 blk:4,jbd:2 | ext4_sync_file
ksend k 1 tcp:6 | __x64_sys_sendto
tcp k 2 tcpx:6,kmalloc:2,copy:2 | tcp_sendmsg_locked
tcpx k 2 ip:6 | tcp_write_xmit
ip k 2 netdev:5,nf:2 | __ip_queue_xmit
nf k 3 | nf_hook_slow
netdev k 2 drv:4,softirq:4 | __dev_queue_xmit
drv k 3 spin:1 | virtio_net_start_xmit
softirq k 1 rx:5 | __do_softirq
rx k 2 tcprx:4 | net_rx_action
tcprx k 3 wake:3,kmalloc:1 | tcp_v4_rcv
wake k 2 sched:2 | sock_def_readable
kfutex k 1 wait:4 | __x64_sys_futex
wait k 1 sched:4 | futex_wait_queue
sched k 2 switch:3 | __schedule
switch k 3 | finish_task_switch.isra.0
kmalloc k 3 | kmem_cache_alloc_node
spin k 5 | native_queued_spin_lock_slowpath
idle k 9 sched:1 | cpuidle_enter_state
kwork k 1 blk:2,jbd:1,spin:1 | process_one_work
`;

function parseCall(line) {
  const [head, ...name] = line.split(' | ');
  const [id, place, self, callees = ''] = head.trim().split(' ');
  const code = place[place.length - 1];
  const kernel = code === 'k' || code === 'e';
  return {
    id,
    self: Number(self),
    callees: callees.split(',').filter(Boolean).map((text) => text.split(':')).map(([to, weight]) => [to, Number(weight)]),
    frame: {
      label: name.join(' | '),
      module: MODULES[code],
      kind: place[0] === 'i' ? INLINED : kernel ? KERNEL : USER,
      unnamed: place[0] === 'u',
    },
  };
}

function choose(random, choices) {
  let left = random() * choices.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [choice, weight] of choices) {
    left -= weight;
    if (left < 0) {
      return choice;
    }
  }
  return choices[choices.length - 1][0];
}

// One stack: from an entry down, ending in a function by the weight of its own work.
function walk(calls, random, entry) {
  const stack = [];
  for (let at = entry; at; ) {
    const call = calls.get(at);
    stack.push(call.index);
    at = stack.length > 48 ? null : choose(random, [[null, call.self / 2], ...call.callees]);
  }
  return stack;
}

// Collects stacks into nodes.
export class Stacks {
  constructor() {
    this.nodes = [];
    this.known = new Map();
  }

  node(parent, frame) {
    const key = parent * 65536 + frame;
    if (!this.known.has(key)) {
      this.nodes.push({ parent, frame, self: 0, weight: 0n });
      this.known.set(key, this.nodes.length);
    }
    return this.known.get(key);
  }

  add(stack, samples, weight) {
    const last = stack.reduce((parent, frame) => this.node(parent, frame), 0);
    this.nodes[last - 1].self += samples;
    this.nodes[last - 1].weight += weight;
  }
}

const THREADS = [['stored', 'start', 26], ['worker-3', 'work', 14], ['worker-7', 'work', 12], ['compact:low', 'compact', 15],
  ['kworker/3:1H', 'kwork', 2], ['swapper', 'idle', 3]];

function sampleEvent(name, calls, threads, samples, seed, weight) {
  const random = dice(seed);
  const stacks = new Stacks();
  for (let i = 0; i < samples; i++) {
    const thread = choose(random, threads.map((one) => [one, one.weight]));
    stacks.add([thread.frame, ...walk(calls, random, thread.entry)], 1, weight + BigInt(Math.floor(random() * 4e5)));
  }
  return { name, nodes: stacks.nodes };
}

// The profile of a server: about 5,000 nodes with 48,000 samples.
export function serverProfile(samples = 48000) {
  const list = CALLS.trim().split('\n').map(parseCall);
  const calls = new Map(list.map((call, index) => [call.id, { ...call, index }]));
  const frames = list.map((call) => call.frame);
  const threads = THREADS.map(([label, entry, weight]) =>
    ({ entry, weight, frame: frames.push({ label, module: '', kind: COMM }) - 1 }));
  return {
    title: 'stored under load: gets, puts and scans',
    facts: Object.entries({
      command: 'perfev record -g -F 997 -p 2041 -- sleep 30', duration: '30.002 s', kernel: '6.1.0-28-amd64',
      processor: '16 of Example CPU 2.60 GHz', lost: '0 samples', 'call graphs': 'frame pointers',
    }).map(([name, value]) => ({ name, value })),
    frames,
    events: [
      sampleEvent('cycles', calls, threads, samples, 7, 2600000n),
      { name: 'page-faults', nodes: [] },
      sampleEvent('cache-misses', calls, threads, Math.floor(samples / 8), 11, 10007n),
    ],
    modules: [
      { module: '/opt/vendor/libaccel.so', why: 'no symbol table, and no debug file for build-id 9c1f22ab04e7', samples: 1021 },
      { module: '[jit]', why: 'no map file /tmp/perf-2041.map', samples: 587 },
    ],
  };
}

// A random tree of `count` nodes. Names come from a few syllables, so searches find many.
export function randomProfile({ count = 1000, labels = 200, seed = 1, deep = 0.5, size = 9 } = {}) {
  const random = dice(seed);
  const pick = (n) => Math.floor(random() * n);
  const syllables = ['ab', 'zu', 'ke', 'mo', 'Ri', 'st_', 'pl', 'qu'];
  const frames = Array.from({ length: labels }, (_, i) => ({
    label: syllables[pick(8)] + syllables[pick(8)] + (i >> 2),
    module: ['/bin/a', '/lib/b.so', '[kernel.kallsyms]'][pick(3)],
    kind: i < 3 ? COMM : [USER, KERNEL, INLINED][pick(3)],
  }));
  frames.slice(0, 3).forEach((frame) => { frame.module = ''; });
  const nodes = Array.from({ length: count }, (_, i) => {
    const parent = i < 3 ? 0 : random() < deep ? Math.max(i - pick(4), 1) : 1 + pick(i);
    return { parent, frame: i < 3 ? i : 3 + pick(labels - 3), self: pick(size), weight: BigInt(pick(1e6)) };
  });
  return { title: 'random', frames, events: [{ name: 'cycles', nodes }] };
}

/* SPDX-License-Identifier: MIT */
/*
 * perfev/abi_values.h - second half of <perfev/abi.h>, which includes it: values that the kernel's
 * header has as macros (data source, breakpoints, ioctl numbers), each filled in where missing.
 */
#ifndef PERFEV_ABI_VALUES_H
#define PERFEV_ABI_VALUES_H

#ifndef PERFEV_ABI_H
#error "include <perfev/abi.h>"
#endif

/* ---- fields of perf_mem_data_src: PERF_MEM_S(OP, LOAD) puts a value in its place ------------- */

#ifndef PERF_MEM_S
#define PERF_MEM_S(a, s) (((uint64_t)PERF_MEM_##a##_##s) << PERF_MEM_##a##_SHIFT)
#endif

#ifndef PERF_MEM_OP_NA
#define PERF_MEM_OP_NA	   0x01
#define PERF_MEM_OP_LOAD   0x02
#define PERF_MEM_OP_STORE  0x04
#define PERF_MEM_OP_PFETCH 0x08
#define PERF_MEM_OP_EXEC   0x10
#define PERF_MEM_OP_SHIFT  0

#define PERF_MEM_LVL_NA	      0x01
#define PERF_MEM_LVL_HIT      0x02
#define PERF_MEM_LVL_MISS     0x04
#define PERF_MEM_LVL_L1	      0x08
#define PERF_MEM_LVL_LFB      0x10
#define PERF_MEM_LVL_L2	      0x20
#define PERF_MEM_LVL_L3	      0x40
#define PERF_MEM_LVL_LOC_RAM  0x80
#define PERF_MEM_LVL_REM_RAM1 0x100
#define PERF_MEM_LVL_REM_RAM2 0x200
#define PERF_MEM_LVL_REM_CCE1 0x400
#define PERF_MEM_LVL_REM_CCE2 0x800
#define PERF_MEM_LVL_IO	      0x1000
#define PERF_MEM_LVL_UNC      0x2000
#define PERF_MEM_LVL_SHIFT    5

#define PERF_MEM_SNOOP_NA    0x01
#define PERF_MEM_SNOOP_NONE  0x02
#define PERF_MEM_SNOOP_HIT   0x04
#define PERF_MEM_SNOOP_MISS  0x08
#define PERF_MEM_SNOOP_HITM  0x10
#define PERF_MEM_SNOOP_SHIFT 19

#define PERF_MEM_LOCK_NA     0x01
#define PERF_MEM_LOCK_LOCKED 0x02
#define PERF_MEM_LOCK_SHIFT  24

#define PERF_MEM_TLB_NA	   0x01
#define PERF_MEM_TLB_HIT   0x02
#define PERF_MEM_TLB_MISS  0x04
#define PERF_MEM_TLB_L1	   0x08
#define PERF_MEM_TLB_L2	   0x10
#define PERF_MEM_TLB_WK	   0x20 /* hardware walker */
#define PERF_MEM_TLB_OS	   0x40 /* fault handler */
#define PERF_MEM_TLB_SHIFT 26

#define PERF_MEM_REMOTE_REMOTE 0x01 /* [4.14] */
#define PERF_MEM_REMOTE_SHIFT  37
#endif

/* a number, not a set of bits [4.14] */
#ifndef PERF_MEM_LVLNUM_L1
#define PERF_MEM_LVLNUM_L1	  0x01
#define PERF_MEM_LVLNUM_L2	  0x02
#define PERF_MEM_LVLNUM_L3	  0x03
#define PERF_MEM_LVLNUM_L4	  0x04
#define PERF_MEM_LVLNUM_ANY_CACHE 0x0b
#define PERF_MEM_LVLNUM_LFB	  0x0c
#define PERF_MEM_LVLNUM_RAM	  0x0d
#define PERF_MEM_LVLNUM_PMEM	  0x0e
#define PERF_MEM_LVLNUM_NA	  0x0f
#define PERF_MEM_LVLNUM_SHIFT	  33
#endif
#ifndef PERF_MEM_LVLNUM_L2_MHB
#define PERF_MEM_LVLNUM_L2_MHB 0x05 /* [6.11] miss handling buffer */
#endif
#ifndef PERF_MEM_LVLNUM_MSC
#define PERF_MEM_LVLNUM_MSC 0x06 /* [6.11] memory-side cache */
#endif
#ifndef PERF_MEM_LVLNUM_L0
#define PERF_MEM_LVLNUM_L0 0x07 /* [7.0] */
#endif
#ifndef PERF_MEM_LVLNUM_UNC
#define PERF_MEM_LVLNUM_UNC 0x08 /* [6.6] */
#endif
#ifndef PERF_MEM_LVLNUM_CXL
#define PERF_MEM_LVLNUM_CXL 0x09 /* [6.1] */
#endif
#ifndef PERF_MEM_LVLNUM_IO
#define PERF_MEM_LVLNUM_IO 0x0a /* [6.1] */
#endif

#ifndef PERF_MEM_SNOOPX_FWD
#define PERF_MEM_SNOOPX_FWD   0x01 /* [4.14] */
#define PERF_MEM_SNOOPX_SHIFT 38
#endif
#ifndef PERF_MEM_SNOOPX_PEER
#define PERF_MEM_SNOOPX_PEER 0x02 /* [6.1] */
#endif

#ifndef PERF_MEM_BLK_NA
#define PERF_MEM_BLK_NA	   0x01 /* [5.12] */
#define PERF_MEM_BLK_DATA  0x02
#define PERF_MEM_BLK_ADDR  0x04
#define PERF_MEM_BLK_SHIFT 40
#endif

#ifndef PERF_MEM_HOPS_0
#define PERF_MEM_HOPS_0 0x01 /* [5.16] another core of the node */
#endif
#ifndef PERF_MEM_HOPS_1
#define PERF_MEM_HOPS_1 0x02 /* [5.17] another node of the socket */
#define PERF_MEM_HOPS_2 0x03 /* another socket of the board */
#define PERF_MEM_HOPS_3 0x04 /* another board */
#endif
#ifndef PERF_MEM_HOPS_SHIFT
#define PERF_MEM_HOPS_SHIFT 43
#endif

#ifndef PERF_MEM_REGION_NA
#define PERF_MEM_REGION_NA	    0x00 /* [7.0] */
#define PERF_MEM_REGION_RSVD	    0x01
#define PERF_MEM_REGION_L_SHARE	    0x02
#define PERF_MEM_REGION_L_NON_SHARE 0x03
#define PERF_MEM_REGION_O_IO	    0x04
#define PERF_MEM_REGION_O_SHARE	    0x05
#define PERF_MEM_REGION_O_NON_SHARE 0x06
#define PERF_MEM_REGION_MMIO	    0x07
#define PERF_MEM_REGION_MEM0	    0x08
#define PERF_MEM_REGION_MEM1	    0x09
#define PERF_MEM_REGION_MEM2	    0x0a
#define PERF_MEM_REGION_MEM3	    0x0b
#define PERF_MEM_REGION_MEM4	    0x0c
#define PERF_MEM_REGION_MEM5	    0x0d
#define PERF_MEM_REGION_MEM6	    0x0e
#define PERF_MEM_REGION_MEM7	    0x0f
#define PERF_MEM_REGION_SHIFT	    46
#endif

/* ---- breakpoints: attr.bp_type and attr.bp_len ----------------------------------------------- */

/* <linux/hw_breakpoint.h> has these as enumerators; when it comes later it finds its guard set, and
 * when it came first, and is older than 4.10, macros add what it lacks. */
#if defined(_LINUX_HW_BREAKPOINT_H) || defined(_UAPI_LINUX_HW_BREAKPOINT_H)
#define HW_BREAKPOINT_LEN_3 3
#define HW_BREAKPOINT_LEN_5 5
#define HW_BREAKPOINT_LEN_6 6
#define HW_BREAKPOINT_LEN_7 7
#else
#define _LINUX_HW_BREAKPOINT_H
#define _UAPI_LINUX_HW_BREAKPOINT_H
enum {
	HW_BREAKPOINT_LEN_1 = 1,
	HW_BREAKPOINT_LEN_2 = 2,
	HW_BREAKPOINT_LEN_3 = 3, /* [4.10] arm64 only, as 5, 6 and 7 */
	HW_BREAKPOINT_LEN_4 = 4,
	HW_BREAKPOINT_LEN_5 = 5,
	HW_BREAKPOINT_LEN_6 = 6,
	HW_BREAKPOINT_LEN_7 = 7,
	HW_BREAKPOINT_LEN_8 = 8
};

enum {
	HW_BREAKPOINT_EMPTY = 0,
	HW_BREAKPOINT_R = 1,
	HW_BREAKPOINT_W = 2,
	HW_BREAKPOINT_RW = HW_BREAKPOINT_R | HW_BREAKPOINT_W,
	HW_BREAKPOINT_X = 4,
	HW_BREAKPOINT_INVALID = HW_BREAKPOINT_RW | HW_BREAKPOINT_X
};
#endif

/* ---- ioctl numbers: direction bits differ by architecture ------------------------------------ */

#if defined(__powerpc__) || defined(__mips__) || defined(__sparc__) || defined(__alpha__)
#define PERFEV_IOC_NONE	     1U
#define PERFEV_IOC_READ	     2U
#define PERFEV_IOC_WRITE     4U
#define PERFEV_IOC_DIR_SHIFT 29
#elif defined(__hppa__)
#define PERFEV_IOC_NONE	     0U
#define PERFEV_IOC_READ	     1U
#define PERFEV_IOC_WRITE     2U
#define PERFEV_IOC_DIR_SHIFT 30
#else
#define PERFEV_IOC_NONE	     0U
#define PERFEV_IOC_READ	     2U
#define PERFEV_IOC_WRITE     1U
#define PERFEV_IOC_DIR_SHIFT 30
#endif
#define PERFEV_IOC(dir, nr, size) \
	(((dir) << PERFEV_IOC_DIR_SHIFT) | ((unsigned)(size) << 16) | (0x24U << 8) | (unsigned)(nr))

#if !PERFEV_ABI_SYSTEM
#define PERF_EVENT_IOC_ENABLE	    PERFEV_IOC(PERFEV_IOC_NONE, 0, 0)
#define PERF_EVENT_IOC_DISABLE	    PERFEV_IOC(PERFEV_IOC_NONE, 1, 0)
#define PERF_EVENT_IOC_REFRESH	    PERFEV_IOC(PERFEV_IOC_NONE, 2, 0)
#define PERF_EVENT_IOC_RESET	    PERFEV_IOC(PERFEV_IOC_NONE, 3, 0)
#define PERF_EVENT_IOC_PERIOD	    PERFEV_IOC(PERFEV_IOC_WRITE, 4, sizeof(uint64_t))
#define PERF_EVENT_IOC_SET_OUTPUT   PERFEV_IOC(PERFEV_IOC_NONE, 5, 0)
#define PERF_EVENT_IOC_SET_FILTER   PERFEV_IOC(PERFEV_IOC_WRITE, 6, sizeof(char *))
#define PERF_EVENT_IOC_ID	    PERFEV_IOC(PERFEV_IOC_READ, 7, sizeof(uint64_t *))
#define PERF_EVENT_IOC_SET_BPF	    PERFEV_IOC(PERFEV_IOC_WRITE, 8, sizeof(uint32_t))
#define PERF_EVENT_IOC_PAUSE_OUTPUT PERFEV_IOC(PERFEV_IOC_WRITE, 9, sizeof(uint32_t)) /* [4.7] */
#define PERF_EVENT_IOC_QUERY_BPF \
	PERFEV_IOC(PERFEV_IOC_WRITE | PERFEV_IOC_READ, 10, sizeof(void *)) /* [4.16] */
#define PERF_EVENT_IOC_MODIFY_ATTRIBUTES \
	PERFEV_IOC(PERFEV_IOC_WRITE, 11, sizeof(void *)) /* [4.17] */
#endif

#endif

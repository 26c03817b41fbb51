/*
 * Our layouts and numbers of hwt(4), compared with the headers of the FreeBSD
 * that this is compiled for.  Other systems have nothing to compare.
 *
 * What programs get is sys/hwt.h.  The headers of the backends are in its
 * sources only: with -I/usr/src/sys they are compared too.
 */
#include "capture/hwt_abi.h"

/* A file without any declaration is no C. */
typedef int hwtdi_hwt_abi_host;

#ifdef __FreeBSD__

#include <sys/types.h>
#include <sys/event.h>
#include <sys/ioccom.h>

#define SAME(name, ours, theirs)                                              \
	static_assert((unsigned long)(ours) == (unsigned long)(theirs), name)
#define SAME_SIZE(ours, theirs)                                               \
	SAME(#theirs, sizeof(struct ours), sizeof(struct theirs))
/* Where a field lies, and how long it is. */
#define SAME_FIELD(ours, our_field, theirs, their_field)                      \
	SAME(#theirs "." #their_field, offsetof(struct ours, our_field),      \
	    offsetof(struct theirs, their_field));                            \
	SAME(#theirs "." #their_field, sizeof(((struct ours *)0)->our_field), \
	    sizeof(((struct theirs *)0)->their_field))

#if __has_include(<sys/hwt.h>)
#include <sys/hwt.h>

SAME("magic", HWTDI_HWT_IOW(0, 0), _IOC(IOC_IN, HWT_MAGIC, 0, 0));
SAME("ALLOC", HWTDI_HWT_IOC_ALLOC, HWT_IOC_ALLOC);
SAME("START", HWTDI_HWT_IOC_START, HWT_IOC_START);
SAME("STOP", HWTDI_HWT_IOC_STOP, HWT_IOC_STOP);
SAME("RECORD_GET", HWTDI_HWT_IOC_RECORD_GET, HWT_IOC_RECORD_GET);
SAME("BUFPTR_GET", HWTDI_HWT_IOC_BUFPTR_GET, HWT_IOC_BUFPTR_GET);
SAME("SET_CONFIG", HWTDI_HWT_IOC_SET_CONFIG, HWT_IOC_SET_CONFIG);
SAME("WAKEUP", HWTDI_HWT_IOC_WAKEUP, HWT_IOC_WAKEUP);
SAME("SVC_BUF", HWTDI_HWT_IOC_SVC_BUF, HWT_IOC_SVC_BUF);

SAME("modes", HWTDI_HWT_THREAD, HWT_MODE_THREAD);
SAME("modes", HWTDI_HWT_CPU, HWT_MODE_CPU);
SAME("names of backends", HWTDI_HWT_BACKEND_ROOM, HWT_BACKEND_MAXNAMELEN);
SAME("paths", HWTDI_HWT_PATH_ROOM, MAXPATHLEN);

SAME_SIZE(hwtdi_hwt_alloc, hwt_alloc);
SAME_FIELD(hwtdi_hwt_alloc, bufsize, hwt_alloc, bufsize);
SAME_FIELD(hwtdi_hwt_alloc, mode, hwt_alloc, mode);
SAME_FIELD(hwtdi_hwt_alloc, pid, hwt_alloc, pid);
SAME_FIELD(hwtdi_hwt_alloc, cpu_map, hwt_alloc, cpu_map);
SAME_FIELD(hwtdi_hwt_alloc, cpusetsize, hwt_alloc, cpusetsize);
SAME_FIELD(hwtdi_hwt_alloc, backend_name, hwt_alloc, backend_name);
SAME_FIELD(hwtdi_hwt_alloc, ident, hwt_alloc, ident);
SAME_FIELD(hwtdi_hwt_alloc, kqueue_fd, hwt_alloc, kqueue_fd);

SAME_SIZE(hwtdi_hwt_plain, hwt_start);
SAME_SIZE(hwtdi_hwt_plain, hwt_stop);
SAME_SIZE(hwtdi_hwt_plain, hwt_wakeup);
SAME_FIELD(hwtdi_hwt_plain, reserved, hwt_start, reserved);
SAME_FIELD(hwtdi_hwt_plain, reserved, hwt_stop, reserved);
SAME_FIELD(hwtdi_hwt_plain, reserved, hwt_wakeup, reserved);

SAME_SIZE(hwtdi_hwt_record_get, hwt_record_get);
SAME_FIELD(hwtdi_hwt_record_get, records, hwt_record_get, records);
SAME_FIELD(hwtdi_hwt_record_get, nentries, hwt_record_get, nentries);
SAME_FIELD(hwtdi_hwt_record_get, wait, hwt_record_get, wait);

SAME_SIZE(hwtdi_hwt_bufptr_get, hwt_bufptr_get);
SAME_FIELD(hwtdi_hwt_bufptr_get, ident, hwt_bufptr_get, ident);
SAME_FIELD(hwtdi_hwt_bufptr_get, offset, hwt_bufptr_get, offset);
SAME_FIELD(hwtdi_hwt_bufptr_get, data, hwt_bufptr_get, data);

SAME_SIZE(hwtdi_hwt_set_config, hwt_set_config);
SAME_FIELD(hwtdi_hwt_set_config, pause_on_mmap, hwt_set_config, pause_on_mmap);
SAME_FIELD(hwtdi_hwt_set_config, config, hwt_set_config, config);
SAME_FIELD(hwtdi_hwt_set_config, config_size, hwt_set_config, config_size);
SAME_FIELD(hwtdi_hwt_set_config, config_version, hwt_set_config,
    config_version);

SAME_SIZE(hwtdi_hwt_svc_buf, hwt_svc_buf);
SAME_FIELD(hwtdi_hwt_svc_buf, data, hwt_svc_buf, data);
SAME_FIELD(hwtdi_hwt_svc_buf, data_size, hwt_svc_buf, data_size);
SAME_FIELD(hwtdi_hwt_svc_buf, data_version, hwt_svc_buf, data_version);

SAME("MMAP", HWTDI_HWT_ENTRY_MMAP, HWT_RECORD_MMAP);
SAME("MUNMAP", HWTDI_HWT_ENTRY_MUNMAP, HWT_RECORD_MUNMAP);
SAME("EXECUTABLE", HWTDI_HWT_ENTRY_EXECUTABLE, HWT_RECORD_EXECUTABLE);
SAME("KERNEL", HWTDI_HWT_ENTRY_KERNEL, HWT_RECORD_KERNEL);
SAME("THREAD_CREATE", HWTDI_HWT_ENTRY_THREAD_CREATE, HWT_RECORD_THREAD_CREATE);
SAME("THREAD_SET_NAME", HWTDI_HWT_ENTRY_THREAD_SET_NAME,
    HWT_RECORD_THREAD_SET_NAME);
SAME("BUFFER", HWTDI_HWT_ENTRY_BUFFER, HWT_RECORD_BUFFER);

SAME_SIZE(hwtdi_hwt_entry, hwt_record_user_entry);
SAME_FIELD(hwtdi_hwt_entry, type, hwt_record_user_entry, record_type);
SAME_FIELD(hwtdi_hwt_entry, u.path.fullpath, hwt_record_user_entry, fullpath);
SAME_FIELD(hwtdi_hwt_entry, u.path.addr, hwt_record_user_entry, addr);
SAME_FIELD(hwtdi_hwt_entry, u.path.baseaddr, hwt_record_user_entry, baseaddr);
SAME_FIELD(hwtdi_hwt_entry, u.buffer.buf_id, hwt_record_user_entry, buf_id);
SAME_FIELD(hwtdi_hwt_entry, u.buffer.curpage, hwt_record_user_entry, curpage);
SAME_FIELD(hwtdi_hwt_entry, u.buffer.offset, hwt_record_user_entry, offset);
SAME_FIELD(hwtdi_hwt_entry, u.thread_id, hwt_record_user_entry, thread_id);

#endif /* sys/hwt.h */

#if defined(__amd64__) && __has_include(<amd64/pt/pt.h>)
#include <amd64/pt/pt.h>

SAME("ranges", HWTDI_HWT_PT_RANGES, PT_IP_FILTER_MAX_RANGES);
SAME_SIZE(hwtdi_hwt_pt_config, pt_cpu_config);
SAME_FIELD(hwtdi_hwt_pt_config, rtit_ctl, pt_cpu_config, rtit_ctl);
SAME_FIELD(hwtdi_hwt_pt_config, cr3_filter, pt_cpu_config, cr3_filter);
SAME_FIELD(hwtdi_hwt_pt_config, nranges, pt_cpu_config, nranges);
SAME_FIELD(hwtdi_hwt_pt_config, ip_ranges, pt_cpu_config, ip_ranges);
SAME_FIELD(hwtdi_hwt_pt_config, ip_ranges[1].end, pt_cpu_config,
    ip_ranges[1].end);
SAME_FIELD(hwtdi_hwt_pt_config, mtc_freq, pt_cpu_config, mtc_freq);
SAME_FIELD(hwtdi_hwt_pt_config, cyc_thresh, pt_cpu_config, cyc_thresh);
SAME_FIELD(hwtdi_hwt_pt_config, psb_freq, pt_cpu_config, psb_freq);
#endif /* amd64/pt/pt.h */

#if __has_include(<x86/specialreg.h>)
#include <x86/specialreg.h>

SAME("OS", HWTDI_HWT_PT_OS, RTIT_CTL_OS);
SAME("USER", HWTDI_HWT_PT_USER, RTIT_CTL_USER);
SAME("CR3FILTER", HWTDI_HWT_PT_CR3_FILTER, RTIT_CTL_CR3FILTER);
SAME("MTCEN", HWTDI_HWT_PT_MTC, RTIT_CTL_MTCEN);
SAME("BRANCHEN", HWTDI_HWT_PT_BRANCH, RTIT_CTL_BRANCHEN);
SAME("DIS_TNT", HWTDI_HWT_PT_DIS_TNT, RTIT_CTL_DIS_TNT);
#endif /* x86/specialreg.h */

#if defined(__aarch64__) && __has_include(<arm64/spe/arm_spe.h>)
#include <arm64/spe/arm_spe.h>

SAME_SIZE(hwtdi_hwt_spe_config, arm_spe_config);
SAME_FIELD(hwtdi_hwt_spe_config, interval, arm_spe_config, interval);
SAME_FIELD(hwtdi_hwt_spe_config, level, arm_spe_config, level);
SAME_FIELD(hwtdi_hwt_spe_config, ctx_field, arm_spe_config, ctx_field);
SAME_SIZE(hwtdi_hwt_spe_svc_buf, arm_spe_svc_buf);
SAME_FIELD(hwtdi_hwt_spe_svc_buf, ident, arm_spe_svc_buf, ident);
SAME("level", HWTDI_HWT_SPE_KERNEL_AND_USER, ARM_SPE_KERNEL_AND_USER);
SAME("level", HWTDI_HWT_SPE_KERNEL_ONLY, ARM_SPE_KERNEL_ONLY);
SAME("level", HWTDI_HWT_SPE_USER_ONLY, ARM_SPE_USER_ONLY);
SAME("context", HWTDI_HWT_SPE_CTX_NONE, ARM_SPE_CTX_NONE);
SAME("context", HWTDI_HWT_SPE_CTX_PID, ARM_SPE_CTX_PID);
SAME("context", HWTDI_HWT_SPE_CTX_CPU, ARM_SPE_CTX_CPU_ID);
SAME("half", HWTDI_HWT_SPE_HALF, KQ_BUF_POS);
SAME("partial", HWTDI_HWT_SPE_PARTIAL, KQ_PARTREC);
SAME("final", HWTDI_HWT_SPE_FINAL, KQ_FINAL_BUF);
SAME("event", HWTDI_HWT_SPE_EVENT_BUF, ARM_SPE_KQ_BUF);
SAME("event", HWTDI_HWT_SPE_EVENT_SHUTDOWN, ARM_SPE_KQ_SHUTDOWN);
#endif /* arm64/spe/arm_spe.h */

#endif /* __FreeBSD__ */

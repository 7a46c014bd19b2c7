#pragma once

/// The routines of LAPACK that the wheels of NumPy 2.4 and SciPy 1.17 import from their OpenBLAS and that Tessera does
/// not compute itself. They have no prototypes here, because trampolines.cpp passes calls on with whatever arguments
/// they have. tests/bindings/blas/forwarded/wheel_names.py compares the list with the wheels.

// clang-format off
#define TESSERA_LAPACK_ROUTINES(X)                                                                                     \
  X(cbbcsd) X(cbdsqr) X(cgbbrd) X(cgbcon) X(cgbequ) X(cgbequb) X(cgbrfs) X(cgbsv) X(cgbsvx) X(cgbtf2) X(cgbtrf)        \
  X(cgbtrs) X(cgebak) X(cgebal) X(cgebd2) X(cgebrd) X(cgeequ) X(cgeequb) X(cgees) X(cgeesx) X(cgeev) X(cgeevx)         \
  X(cgehd2) X(cgehrd) X(cgelq2) X(cgelqf) X(cgelsd) X(cgelss) X(cgelsy) X(cgemqrt) X(cgeql2) X(cgeqlf) X(cgeqp3)       \
  X(cgeqr2p) X(cgeqrfp) X(cgeqrt2) X(cgeqrt3) X(cgeqrt) X(cgerfs) X(cgerq2) X(cgerqf) X(cgesc2) X(cgesdd) X(cgesvd)    \
  X(cgesvx) X(cgetc2) X(cggbak) X(cggbal) X(cgges) X(cggesx) X(cggev) X(cggevx) X(cggglm) X(cgghrd) X(cgglse)          \
  X(cggqrf) X(cggrqf) X(cgtcon) X(cgtrfs) X(cgtsv) X(cgtsvx) X(cgttrf) X(cgttrs) X(cgtts2) X(chbev) X(chbevd)          \
  X(chbevx) X(chbgst) X(chbgv) X(chbgvd) X(chbgvx) X(chbtrd) X(checon) X(cheequb) X(cheev) X(cheevd) X(cheevr)         \
  X(cheevx) X(chegs2) X(chegst) X(chegv) X(chegvd) X(chegvx) X(cherfs) X(chesv) X(chesvx) X(cheswapr) X(chetd2)        \
  X(chetf2) X(chetrd) X(chetrf) X(chetri2) X(chetri2x) X(chetri) X(chetrs2) X(chetrs) X(chfrk) X(chgeqz)               \
  X(chla_transtype) X(chpcon) X(chpev) X(chpevd) X(chpevx) X(chpgst) X(chpgv) X(chpgvd) X(chpgvx) X(chprfs) X(chpsv)   \
  X(chpsvx) X(chptrd) X(chptrf) X(chptri) X(chptrs) X(chsein) X(chseqr) X(clabrd) X(clacgv) X(clacn2) X(clacon)        \
  X(clacp2) X(clacpy) X(clacrm) X(clacrt) X(cladiv) X(claed0) X(claed7) X(claed8) X(claein) X(claesy) X(claev2)        \
  X(clag2z) X(clags2) X(clagtm) X(clahef) X(clahqr) X(clahr2) X(claic1) X(clals0) X(clalsa) X(clalsd) X(clangb)        \
  X(clange) X(clangt) X(clanhb) X(clanhe) X(clanhf) X(clanhp) X(clanhs) X(clanht) X(clansb) X(clansp) X(clansy)        \
  X(clantb) X(clantp) X(clantr) X(clapll) X(clapmr) X(clapmt) X(claqgb) X(claqge) X(claqhb) X(claqhe) X(claqhp)        \
  X(claqp2) X(claqps) X(claqr0) X(claqr1) X(claqr2) X(claqr3) X(claqr4) X(claqr5) X(claqsb) X(claqsp) X(claqsy)        \
  X(clar1v) X(clar2v) X(clarcm) X(clarf) X(clarfb) X(clarfg) X(clarfgp) X(clarft) X(clarfx) X(clargv) X(clarnv)        \
  X(clarrv) X(clartg) X(clartv) X(clarz) X(clarzb) X(clarzt) X(clascl) X(claset) X(clasr) X(classq) X(claswp)          \
  X(clasyf) X(clatbs) X(clatdf) X(clatps) X(clatrd) X(clatrs) X(clatrz) X(cpbcon) X(cpbequ) X(cpbrfs) X(cpbstf)        \
  X(cpbsv) X(cpbsvx) X(cpbtf2) X(cpbtrf) X(cpbtrs) X(cpftrf) X(cpftri) X(cpftrs) X(cpoequ) X(cpoequb) X(cporfs)        \
  X(cposvx) X(cppcon) X(cppequ) X(cpprfs) X(cppsv) X(cppsvx) X(cpptrf) X(cpptri) X(cpptrs) X(cpstf2) X(cpstrf)         \
  X(cptcon) X(cpteqr) X(cptrfs) X(cptsv) X(cptsvx) X(cpttrf) X(cpttrs) X(cptts2) X(crot) X(cspcon) X(cspmv) X(cspr)    \
  X(csprfs) X(cspsv) X(cspsvx) X(csptrf) X(csptri) X(csptrs) X(csrscl) X(cstedc) X(cstegr) X(cstein) X(cstemr)         \
  X(csteqr) X(csycon) X(csyconv) X(csyequb) X(csymv) X(csyr) X(csyrfs) X(csysv) X(csysvx) X(csyswapr) X(csytf2)        \
  X(csytrf) X(csytri2) X(csytri2x) X(csytri) X(csytrs2) X(csytrs) X(ctbcon) X(ctbrfs) X(ctbtrs) X(ctfsm) X(ctftri)     \
  X(ctfttp) X(ctfttr) X(ctgevc) X(ctgex2) X(ctgexc) X(ctgsen) X(ctgsja) X(ctgsna) X(ctgsy2) X(ctgsyl) X(ctpcon)        \
  X(ctpmqrt) X(ctpqrt2) X(ctpqrt) X(ctprfb) X(ctprfs) X(ctptri) X(ctptrs) X(ctpttf) X(ctpttr) X(ctrevc) X(ctrexc)      \
  X(ctrrfs) X(ctrsen) X(ctrsna) X(ctrsyl) X(ctrttf) X(ctrttp) X(ctzrzf) X(cunbdb) X(cuncsd) X(cung2l) X(cungbr)        \
  X(cunghr) X(cungl2) X(cunglq) X(cungql) X(cungr2) X(cungrq) X(cungtr) X(cunm2l) X(cunmbr) X(cunmhr) X(cunml2)        \
  X(cunmlq) X(cunmql) X(cunmr2) X(cunmr3) X(cunmrq) X(cunmrz) X(cunmtr) X(cupgtr) X(cupmtr) X(dbbcsd) X(dbdsdc)        \
  X(dbdsqr) X(ddisna) X(dgbbrd) X(dgbcon) X(dgbequ) X(dgbequb) X(dgbrfs) X(dgbsv) X(dgbsvx) X(dgbtf2) X(dgbtrf)        \
  X(dgbtrs) X(dgebak) X(dgebal) X(dgebd2) X(dgebrd) X(dgeequ) X(dgeequb) X(dgees) X(dgeesx) X(dgeev) X(dgeevx)         \
  X(dgehd2) X(dgehrd) X(dgejsv) X(dgelq2) X(dgelqf) X(dgelsd) X(dgelss) X(dgelsy) X(dgemqrt) X(dgeql2) X(dgeqlf)       \
  X(dgeqp3) X(dgeqr2p) X(dgeqrfp) X(dgeqrt2) X(dgeqrt3) X(dgeqrt) X(dgerfs) X(dgerq2) X(dgerqf) X(dgesc2) X(dgesdd)    \
  X(dgesvd) X(dgesvj) X(dgesvx) X(dgetc2) X(dggbak) X(dggbal) X(dgges) X(dggesx) X(dggev) X(dggevx) X(dggglm)          \
  X(dgghrd) X(dgglse) X(dggqrf) X(dggrqf) X(dgsvj0) X(dgsvj1) X(dgtcon) X(dgtrfs) X(dgtsv) X(dgtsvx) X(dgttrf)         \
  X(dgttrs) X(dgtts2) X(dhgeqz) X(dhsein) X(dhseqr) X(disnan) X(dlabad) X(dlabrd) X(dlacn2) X(dlacon) X(dlacpy)        \
  X(dladiv) X(dlae2) X(dlaebz) X(dlaed0) X(dlaed1) X(dlaed2) X(dlaed3) X(dlaed4) X(dlaed5) X(dlaed6) X(dlaed7)         \
  X(dlaed8) X(dlaed9) X(dlaeda) X(dlaein) X(dlaev2) X(dlaexc) X(dlag2) X(dlag2s) X(dlags2) X(dlagtf) X(dlagtm)         \
  X(dlagts) X(dlagv2) X(dlahqr) X(dlahr2) X(dlaic1) X(dlaln2) X(dlals0) X(dlalsa) X(dlalsd) X(dlamch) X(dlamrg)        \
  X(dlaneg) X(dlangb) X(dlange) X(dlangt) X(dlanhs) X(dlansb) X(dlansf) X(dlansp) X(dlanst) X(dlansy) X(dlantb)        \
  X(dlantp) X(dlantr) X(dlanv2) X(dlapll) X(dlapmr) X(dlapmt) X(dlapy2) X(dlapy3) X(dlaqgb) X(dlaqge) X(dlaqp2)        \
  X(dlaqps) X(dlaqr0) X(dlaqr1) X(dlaqr2) X(dlaqr3) X(dlaqr4) X(dlaqr5) X(dlaqsb) X(dlaqsp) X(dlaqsy) X(dlaqtr)        \
  X(dlar1v) X(dlar2v) X(dlarf) X(dlarfb) X(dlarfg) X(dlarfgp) X(dlarft) X(dlarfx) X(dlargv) X(dlarnv) X(dlarra)        \
  X(dlarrb) X(dlarrc) X(dlarrd) X(dlarre) X(dlarrf) X(dlarrj) X(dlarrk) X(dlarrr) X(dlarrv) X(dlartg) X(dlartgp)       \
  X(dlartgs) X(dlartv) X(dlaruv) X(dlarz) X(dlarzb) X(dlarzt) X(dlas2) X(dlascl) X(dlasd0) X(dlasd1) X(dlasd2)         \
  X(dlasd3) X(dlasd4) X(dlasd5) X(dlasd6) X(dlasd7) X(dlasd8) X(dlasda) X(dlasdq) X(dlasdt) X(dlaset) X(dlasq1)        \
  X(dlasq2) X(dlasq3) X(dlasq4) X(dlasq6) X(dlasr) X(dlasrt) X(dlassq) X(dlasv2) X(dlaswp) X(dlasy2) X(dlasyf)         \
  X(dlat2s) X(dlatbs) X(dlatdf) X(dlatps) X(dlatrd) X(dlatrs) X(dlatrz) X(dopgtr) X(dopmtr) X(dorbdb) X(dorcsd)        \
  X(dorg2l) X(dorgbr) X(dorghr) X(dorgl2) X(dorglq) X(dorgql) X(dorgr2) X(dorgrq) X(dorgtr) X(dorm2l) X(dormbr)        \
  X(dormhr) X(dorml2) X(dormlq) X(dormql) X(dormr2) X(dormr3) X(dormrq) X(dormrz) X(dormtr) X(dpbcon) X(dpbequ)        \
  X(dpbrfs) X(dpbstf) X(dpbsv) X(dpbsvx) X(dpbtf2) X(dpbtrf) X(dpbtrs) X(dpftrf) X(dpftri) X(dpftrs) X(dpoequ)         \
  X(dpoequb) X(dporfs) X(dposvx) X(dppcon) X(dppequ) X(dpprfs) X(dppsv) X(dppsvx) X(dpptrf) X(dpptri) X(dpptrs)        \
  X(dpstf2) X(dpstrf) X(dptcon) X(dpteqr) X(dptrfs) X(dptsv) X(dptsvx) X(dpttrf) X(dpttrs) X(dptts2) X(drscl)          \
  X(dsbev) X(dsbevd) X(dsbevx) X(dsbgst) X(dsbgv) X(dsbgvd) X(dsbgvx) X(dsbtrd) X(dsfrk) X(dsgesv) X(dspcon) X(dspev)  \
  X(dspevd) X(dspevx) X(dspgst) X(dspgv) X(dspgvd) X(dspgvx) X(dsposv) X(dsprfs) X(dspsv) X(dspsvx) X(dsptrd)          \
  X(dsptrf) X(dsptri) X(dsptrs) X(dstebz) X(dstedc) X(dstegr) X(dstein) X(dstemr) X(dsteqr) X(dsterf) X(dstev)         \
  X(dstevd) X(dstevr) X(dstevx) X(dsycon) X(dsyconv) X(dsyequb) X(dsyev) X(dsyevd) X(dsyevr) X(dsyevx) X(dsygs2)       \
  X(dsygst) X(dsygv) X(dsygvd) X(dsygvx) X(dsyrfs) X(dsysv) X(dsysvx) X(dsyswapr) X(dsytd2) X(dsytf2) X(dsytrd)        \
  X(dsytrf) X(dsytri2) X(dsytri2x) X(dsytri) X(dsytrs2) X(dsytrs) X(dtbcon) X(dtbrfs) X(dtbtrs) X(dtfsm) X(dtftri)     \
  X(dtfttp) X(dtfttr) X(dtgevc) X(dtgex2) X(dtgexc) X(dtgsen) X(dtgsja) X(dtgsna) X(dtgsy2) X(dtgsyl) X(dtpcon)        \
  X(dtpmqrt) X(dtpqrt2) X(dtpqrt) X(dtprfb) X(dtprfs) X(dtptri) X(dtptrs) X(dtpttf) X(dtpttr) X(dtrevc) X(dtrexc)      \
  X(dtrrfs) X(dtrsen) X(dtrsna) X(dtrsyl) X(dtrttf) X(dtrttp) X(dtzrzf) X(dzsum1) X(icmax1) X(ieeeck) X(ilaclc)        \
  X(ilaclr) X(iladiag) X(iladlc) X(iladlr) X(ilaprec) X(ilaslc) X(ilaslr) X(ilatrans) X(ilauplo) X(ilaver) X(ilazlc)   \
  X(ilazlr) X(izmax1) X(sbbcsd) X(sbdsdc) X(sbdsqr) X(scsum1) X(sdisna) X(sgbbrd) X(sgbcon) X(sgbequ) X(sgbequb)       \
  X(sgbrfs) X(sgbsv) X(sgbsvx) X(sgbtf2) X(sgbtrf) X(sgbtrs) X(sgebak) X(sgebal) X(sgebd2) X(sgebrd) X(sgeequ)         \
  X(sgeequb) X(sgees) X(sgeesx) X(sgeev) X(sgeevx) X(sgehd2) X(sgehrd) X(sgejsv) X(sgelq2) X(sgelqf) X(sgelsd)         \
  X(sgelss) X(sgelsy) X(sgemqrt) X(sgeql2) X(sgeqlf) X(sgeqp3) X(sgeqr2p) X(sgeqrfp) X(sgeqrt2) X(sgeqrt3) X(sgeqrt)   \
  X(sgerfs) X(sgerq2) X(sgerqf) X(sgesc2) X(sgesdd) X(sgesvd) X(sgesvj) X(sgesvx) X(sgetc2) X(sggbak) X(sggbal)        \
  X(sgges) X(sggesx) X(sggev) X(sggevx) X(sggglm) X(sgghrd) X(sgglse) X(sggqrf) X(sggrqf) X(sgsvj0) X(sgsvj1)          \
  X(sgtcon) X(sgtrfs) X(sgtsv) X(sgtsvx) X(sgttrf) X(sgttrs) X(sgtts2) X(shgeqz) X(shsein) X(shseqr) X(slabad)         \
  X(slabrd) X(slacn2) X(slacon) X(slacpy) X(sladiv) X(slae2) X(slaebz) X(slaed0) X(slaed1) X(slaed2) X(slaed3)         \
  X(slaed4) X(slaed5) X(slaed6) X(slaed7) X(slaed8) X(slaed9) X(slaeda) X(slaein) X(slaev2) X(slaexc) X(slag2)         \
  X(slag2d) X(slags2) X(slagtf) X(slagtm) X(slagts) X(slagv2) X(slahqr) X(slahr2) X(slaic1) X(slaln2) X(slals0)        \
  X(slalsa) X(slalsd) X(slamch) X(slamrg) X(slangb) X(slange) X(slangt) X(slanhs) X(slansb) X(slansf) X(slansp)        \
  X(slanst) X(slansy) X(slantb) X(slantp) X(slantr) X(slanv2) X(slapll) X(slapmr) X(slapmt) X(slapy2) X(slapy3)        \
  X(slaqgb) X(slaqge) X(slaqp2) X(slaqps) X(slaqr0) X(slaqr1) X(slaqr2) X(slaqr3) X(slaqr4) X(slaqr5) X(slaqsb)        \
  X(slaqsp) X(slaqsy) X(slaqtr) X(slar1v) X(slar2v) X(slarf) X(slarfb) X(slarfg) X(slarfgp) X(slarft) X(slarfx)        \
  X(slargv) X(slarnv) X(slarra) X(slarrb) X(slarrc) X(slarrd) X(slarre) X(slarrf) X(slarrj) X(slarrk) X(slarrr)        \
  X(slarrv) X(slartg) X(slartgp) X(slartgs) X(slartv) X(slaruv) X(slarz) X(slarzb) X(slarzt) X(slas2) X(slascl)        \
  X(slasd0) X(slasd1) X(slasd2) X(slasd3) X(slasd4) X(slasd5) X(slasd6) X(slasd7) X(slasd8) X(slasda) X(slasdq)        \
  X(slasdt) X(slaset) X(slasq1) X(slasq2) X(slasq3) X(slasq4) X(slasq6) X(slasr) X(slasrt) X(slassq) X(slasv2)         \
  X(slaswp) X(slasy2) X(slasyf) X(slatbs) X(slatdf) X(slatps) X(slatrd) X(slatrs) X(slatrz) X(sopgtr) X(sopmtr)        \
  X(sorbdb) X(sorcsd) X(sorg2l) X(sorgbr) X(sorghr) X(sorgl2) X(sorglq) X(sorgql) X(sorgr2) X(sorgrq) X(sorgtr)        \
  X(sorm2l) X(sormbr) X(sormhr) X(sorml2) X(sormlq) X(sormql) X(sormr2) X(sormr3) X(sormrq) X(sormrz) X(sormtr)        \
  X(spbcon) X(spbequ) X(spbrfs) X(spbstf) X(spbsv) X(spbsvx) X(spbtf2) X(spbtrf) X(spbtrs) X(spftrf) X(spftri)         \
  X(spftrs) X(spoequ) X(spoequb) X(sporfs) X(sposvx) X(sppcon) X(sppequ) X(spprfs) X(sppsv) X(sppsvx) X(spptrf)        \
  X(spptri) X(spptrs) X(spstf2) X(spstrf) X(sptcon) X(spteqr) X(sptrfs) X(sptsv) X(sptsvx) X(spttrf) X(spttrs)         \
  X(sptts2) X(srscl) X(ssbev) X(ssbevd) X(ssbevx) X(ssbgst) X(ssbgv) X(ssbgvd) X(ssbgvx) X(ssbtrd) X(ssfrk) X(sspcon)  \
  X(sspev) X(sspevd) X(sspevx) X(sspgst) X(sspgv) X(sspgvd) X(sspgvx) X(ssprfs) X(sspsv) X(sspsvx) X(ssptrd)           \
  X(ssptrf) X(ssptri) X(ssptrs) X(sstebz) X(sstedc) X(sstegr) X(sstein) X(sstemr) X(ssteqr) X(ssterf) X(sstev)         \
  X(sstevd) X(sstevr) X(sstevx) X(ssycon) X(ssyconv) X(ssyequb) X(ssyev) X(ssyevd) X(ssyevr) X(ssyevx) X(ssygs2)       \
  X(ssygst) X(ssygv) X(ssygvd) X(ssygvx) X(ssyrfs) X(ssysv) X(ssysvx) X(ssyswapr) X(ssytd2) X(ssytf2) X(ssytrd)        \
  X(ssytrf) X(ssytri2) X(ssytri2x) X(ssytri) X(ssytrs2) X(ssytrs) X(stbcon) X(stbrfs) X(stbtrs) X(stfsm) X(stftri)     \
  X(stfttp) X(stfttr) X(stgevc) X(stgex2) X(stgexc) X(stgsen) X(stgsja) X(stgsna) X(stgsy2) X(stgsyl) X(stpcon)        \
  X(stpmqrt) X(stpqrt2) X(stpqrt) X(stprfb) X(stprfs) X(stptri) X(stptrs) X(stpttf) X(stpttr) X(strevc) X(strexc)      \
  X(strrfs) X(strsen) X(strsna) X(strsyl) X(strttf) X(strttp) X(stzrzf) X(zbbcsd) X(zbdsqr) X(zcgesv) X(zcposv)        \
  X(zdrscl) X(zgbbrd) X(zgbcon) X(zgbequ) X(zgbequb) X(zgbrfs) X(zgbsv) X(zgbsvx) X(zgbtf2) X(zgbtrf) X(zgbtrs)        \
  X(zgebak) X(zgebal) X(zgebd2) X(zgebrd) X(zgeequ) X(zgeequb) X(zgees) X(zgeesx) X(zgeev) X(zgeevx) X(zgehd2)         \
  X(zgehrd) X(zgelq2) X(zgelqf) X(zgelsd) X(zgelss) X(zgelsy) X(zgemqrt) X(zgeql2) X(zgeqlf) X(zgeqp3) X(zgeqr2p)      \
  X(zgeqrfp) X(zgeqrt2) X(zgeqrt3) X(zgeqrt) X(zgerfs) X(zgerq2) X(zgerqf) X(zgesc2) X(zgesdd) X(zgesvd) X(zgesvx)     \
  X(zgetc2) X(zggbak) X(zggbal) X(zgges) X(zggesx) X(zggev) X(zggevx) X(zggglm) X(zgghrd) X(zgglse) X(zggqrf)          \
  X(zggrqf) X(zgtcon) X(zgtrfs) X(zgtsv) X(zgtsvx) X(zgttrf) X(zgttrs) X(zgtts2) X(zhbev) X(zhbevd) X(zhbevx)          \
  X(zhbgst) X(zhbgv) X(zhbgvd) X(zhbgvx) X(zhbtrd) X(zhecon) X(zheequb) X(zheev) X(zheevd) X(zheevr) X(zheevx)         \
  X(zhegs2) X(zhegst) X(zhegv) X(zhegvd) X(zhegvx) X(zherfs) X(zhesv) X(zhesvx) X(zheswapr) X(zhetd2) X(zhetf2)        \
  X(zhetrd) X(zhetrf) X(zhetri2) X(zhetri2x) X(zhetri) X(zhetrs2) X(zhetrs) X(zhfrk) X(zhgeqz) X(zhpcon) X(zhpev)      \
  X(zhpevd) X(zhpevx) X(zhpgst) X(zhpgv) X(zhpgvd) X(zhpgvx) X(zhprfs) X(zhpsv) X(zhpsvx) X(zhptrd) X(zhptrf)          \
  X(zhptri) X(zhptrs) X(zhsein) X(zhseqr) X(zlabrd) X(zlacgv) X(zlacn2) X(zlacon) X(zlacp2) X(zlacpy) X(zlacrm)        \
  X(zlacrt) X(zladiv) X(zlaed0) X(zlaed7) X(zlaed8) X(zlaein) X(zlaesy) X(zlaev2) X(zlag2c) X(zlags2) X(zlagtm)        \
  X(zlahef) X(zlahqr) X(zlahr2) X(zlaic1) X(zlals0) X(zlalsa) X(zlalsd) X(zlangb) X(zlange) X(zlangt) X(zlanhb)        \
  X(zlanhe) X(zlanhf) X(zlanhp) X(zlanhs) X(zlanht) X(zlansb) X(zlansp) X(zlansy) X(zlantb) X(zlantp) X(zlantr)        \
  X(zlapll) X(zlapmr) X(zlapmt) X(zlaqgb) X(zlaqge) X(zlaqhb) X(zlaqhe) X(zlaqhp) X(zlaqp2) X(zlaqps) X(zlaqr0)        \
  X(zlaqr1) X(zlaqr2) X(zlaqr3) X(zlaqr4) X(zlaqr5) X(zlaqsb) X(zlaqsp) X(zlaqsy) X(zlar1v) X(zlar2v) X(zlarcm)        \
  X(zlarf) X(zlarfb) X(zlarfg) X(zlarfgp) X(zlarft) X(zlarfx) X(zlargv) X(zlarnv) X(zlarrv) X(zlartg) X(zlartv)        \
  X(zlarz) X(zlarzb) X(zlarzt) X(zlascl) X(zlaset) X(zlasr) X(zlassq) X(zlaswp) X(zlasyf) X(zlat2c) X(zlatbs)          \
  X(zlatdf) X(zlatps) X(zlatrd) X(zlatrs) X(zlatrz) X(zpbcon) X(zpbequ) X(zpbrfs) X(zpbstf) X(zpbsv) X(zpbsvx)         \
  X(zpbtf2) X(zpbtrf) X(zpbtrs) X(zpftrf) X(zpftri) X(zpftrs) X(zpoequ) X(zpoequb) X(zporfs) X(zposvx) X(zppcon)       \
  X(zppequ) X(zpprfs) X(zppsv) X(zppsvx) X(zpptrf) X(zpptri) X(zpptrs) X(zpstf2) X(zpstrf) X(zptcon) X(zpteqr)         \
  X(zptrfs) X(zptsv) X(zptsvx) X(zpttrf) X(zpttrs) X(zptts2) X(zrot) X(zspcon) X(zspmv) X(zspr) X(zsprfs) X(zspsv)     \
  X(zspsvx) X(zsptrf) X(zsptri) X(zsptrs) X(zstedc) X(zstegr) X(zstein) X(zstemr) X(zsteqr) X(zsycon) X(zsyconv)       \
  X(zsyequb) X(zsymv) X(zsyr) X(zsyrfs) X(zsysv) X(zsysvx) X(zsyswapr) X(zsytf2) X(zsytrf) X(zsytri2) X(zsytri2x)      \
  X(zsytri) X(zsytrs2) X(zsytrs) X(ztbcon) X(ztbrfs) X(ztbtrs) X(ztfsm) X(ztftri) X(ztfttp) X(ztfttr) X(ztgevc)        \
  X(ztgex2) X(ztgexc) X(ztgsen) X(ztgsja) X(ztgsna) X(ztgsy2) X(ztgsyl) X(ztpcon) X(ztpmqrt) X(ztpqrt2) X(ztpqrt)      \
  X(ztprfb) X(ztprfs) X(ztptri) X(ztptrs) X(ztpttf) X(ztpttr) X(ztrevc) X(ztrexc) X(ztrrfs) X(ztrsen) X(ztrsna)        \
  X(ztrsyl) X(ztrttf) X(ztrttp) X(ztzrzf) X(zunbdb) X(zuncsd) X(zung2l) X(zungbr) X(zunghr) X(zungl2) X(zunglq)        \
  X(zungql) X(zungr2) X(zungrq) X(zungtr) X(zunm2l) X(zunmbr) X(zunmhr) X(zunml2) X(zunmlq) X(zunmql) X(zunmr2)        \
  X(zunmr3) X(zunmrq) X(zunmrz) X(zunmtr) X(zupgtr) X(zupmtr)
// clang-format on

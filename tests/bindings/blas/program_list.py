"""What programs.py computes: functions of NumPy and SciPy and estimators of scikit-learn, as pairs of a name and a
function that returns its results. Matrices are a (n×n), b (n×3), tall (n × n/3), symmetric or Hermitian, and positive
definite."""

import numpy as np

try:
    import scipy
except ImportError:
    scipy = None


def numpy_programs(a, b, tall, symmetric, positive):
    linalg = np.linalg
    yield "np.linalg.solve", lambda: [linalg.solve(a, b)]
    yield "np.linalg.inv", lambda: [linalg.inv(a)]
    yield "np.linalg.det", lambda: [linalg.det(a / 10)]  # of several hundred rows, and no overflow
    yield "np.linalg.slogdet", lambda: linalg.slogdet(a)
    yield "np.linalg.cholesky", lambda: [linalg.cholesky(positive)]
    yield "np.linalg.qr", lambda: linalg.qr(tall)
    yield "np.linalg.svd", lambda: linalg.svd(tall, full_matrices=False)
    yield "np.linalg.eigh", lambda: linalg.eigh(symmetric)
    yield "np.linalg.eigvalsh", lambda: [linalg.eigvalsh(symmetric)]
    yield "np.linalg.eig", lambda: linalg.eig(a)
    yield "np.linalg.eigvals", lambda: [linalg.eigvals(a)]
    yield "np.linalg.lstsq", lambda: linalg.lstsq(tall, b, rcond=None)[:2]
    yield "np.linalg.pinv", lambda: [linalg.pinv(tall)]
    yield "np.linalg.matrix_rank", lambda: [linalg.matrix_rank(tall)]
    yield "np.linalg.cond", lambda: [linalg.cond(a), linalg.cond(a, 1)]


def scipy_programs(a, b, tall, symmetric, positive):
    from scipy import linalg
    band = np.array([np.diag(positive), np.append(np.diag(a, 1), 0)])
    yield "scipy.linalg.inv", lambda: [linalg.inv(a)]
    yield "scipy.linalg.lu_factor", lambda: linalg.lu_factor(a)
    yield "scipy.linalg.cho_factor", lambda: [linalg.cho_factor(positive)[0]]
    yield "scipy.linalg.qr", lambda: linalg.qr(tall)
    yield "scipy.linalg.qr, pivoting=True", lambda: linalg.qr(tall, pivoting=True)
    yield "scipy.linalg.rq", lambda: linalg.rq(tall)
    yield "scipy.linalg.svd", lambda: linalg.svd(tall)
    yield "scipy.linalg.svd, 'gesvd'", lambda: linalg.svd(tall, lapack_driver="gesvd")
    yield "scipy.linalg.eigh", lambda: linalg.eigh(symmetric)
    yield "scipy.linalg.eigh, 'ev', 'evd', 'evx'", lambda: [
        x for driver in ("ev", "evd", "evx") for x in linalg.eigh(symmetric, driver=driver)]
    yield "scipy.linalg.eigh(a, b)", lambda: linalg.eigh(symmetric, positive)
    yield "scipy.linalg.eig", lambda: linalg.eig(a, left=True)
    yield "scipy.linalg.eig(a, b)", lambda: linalg.eig(a, positive)
    yield "scipy.linalg.eig_banded", lambda: linalg.eig_banded(band, lower=True)
    yield "scipy.linalg.expm", lambda: [linalg.expm(a / 10)]
    yield "scipy.linalg.sqrtm", lambda: [linalg.sqrtm(positive)]
    yield "scipy.linalg.logm", lambda: [linalg.logm(positive)]
    yield "scipy.linalg.polar", lambda: linalg.polar(a)
    yield "scipy.linalg.solve_triangular", lambda: [linalg.solve_triangular(positive, b, lower=True)]
    yield "scipy.linalg.solve, assume_a='sym'", lambda: [linalg.solve(symmetric, b, assume_a="sym")]
    yield "scipy.linalg.solveh_banded", lambda: [linalg.solveh_banded(band, b, lower=True)]
    yield "scipy.linalg.solve_sylvester", lambda: [linalg.solve_sylvester(a, positive, symmetric)]
    yield "scipy.linalg.lstsq", lambda: linalg.lstsq(tall, b)[:1]
    yield "scipy.linalg.lstsq, 'gelsy', 'gelss'", lambda: [
        linalg.lstsq(tall, b, lapack_driver=driver)[0] for driver in ("gelsy", "gelss")]
    yield "scipy.linalg.pinv", lambda: [linalg.pinv(tall)]
    yield "scipy.linalg.pinvh", lambda: [linalg.pinvh(symmetric)]
    yield "scipy.linalg.null_space", lambda: [linalg.null_space(tall.T)]
    yield "scipy.linalg.schur", lambda: linalg.schur(a)
    yield "scipy.linalg.qz", lambda: linalg.qz(a, symmetric)
    yield "scipy.linalg.hessenberg", lambda: linalg.hessenberg(a, calc_q=True)
    yield "scipy.linalg.ldl", lambda: linalg.ldl(symmetric)
    yield "scipy.linalg.cossin", lambda: linalg.cossin(linalg.qr(a)[0], p=len(a) // 5, q=len(a) // 4)


def sparse_programs(a, positive):
    from scipy import sparse
    start = np.ones(len(a), a.dtype)
    scattered = sparse.csc_matrix(np.where(np.abs(a) > 2, a, 0) + 9 * np.eye(len(a), dtype=a.dtype))
    yield "scipy.sparse.linalg.eigsh", lambda: sparse.linalg.eigsh(positive, 4, v0=start)
    yield "scipy.sparse.linalg.svds", lambda: sparse.linalg.svds(a, 4, v0=start)
    yield "scipy.sparse.linalg.splu", lambda: [sparse.linalg.splu(scattered).solve(start)]


def scikit_learn_programs(b, tall):
    from sklearn import cluster, decomposition, gaussian_process, linear_model
    y = b[:, 0]

    def pca(solver):
        model = decomposition.PCA(5, svd_solver=solver, random_state=0).fit(tall)
        return model.components_, model.explained_variance_, model.transform(tall)

    def linear(model):
        model.fit(tall, y)
        return model.coef_, model.predict(tall)

    def gaussian(optimizer):
        kernel = gaussian_process.kernels.RBF(3.0) + gaussian_process.kernels.WhiteKernel(0.5)
        model = gaussian_process.GaussianProcessRegressor(kernel, optimizer=optimizer).fit(tall[20:100, :5], y[20:100])
        return (*model.predict(tall[:20, :5], return_std=True), model.kernel_.theta)

    def k_means():
        model = cluster.KMeans(5, n_init=2, random_state=0).fit(tall)
        return model.cluster_centers_, model.labels_, model.inertia_

    yield "PCA, svd_solver='full'", lambda: pca("full")
    yield "PCA, svd_solver='randomized'", lambda: pca("randomized")
    if "covariance_eigh" in str(decomposition.PCA._parameter_constraints):  # from 1.5 on
        yield "PCA, svd_solver='covariance_eigh'", lambda: pca("covariance_eigh")
    yield "LinearRegression", lambda: linear(linear_model.LinearRegression())
    yield "Ridge", lambda: linear(linear_model.Ridge(0.3))
    yield "Ridge, solver='svd'", lambda: linear(linear_model.Ridge(0.3, solver="svd"))
    yield "BayesianRidge", lambda: linear(linear_model.BayesianRidge())
    yield "GaussianProcessRegressor, optimizer=None", lambda: gaussian(None)
    yield "GaussianProcessRegressor", lambda: gaussian("fmin_l_bfgs_b")
    yield "KMeans", k_means


def inputs(rng, n, dtype):
    """Random matrices for the programs. No bit of them depends on a product."""
    def normal(*shape):
        numbers = rng.standard_normal(shape)
        if np.issubdtype(dtype, np.complexfloating):
            numbers = numbers + 1j * rng.standard_normal(shape)
        return (np.rint(numbers.view(np.float64) * 4096) / 4096).view(numbers.dtype).astype(dtype)

    a, b, tall = normal(n, n), normal(n, 3), normal(n, n // 3)
    symmetric = a + a.conj().T
    positive = symmetric + dtype(8 * n) * np.eye(n, dtype=dtype)  # its diagonal exceeds the sum of each row
    return a, b, tall, symmetric, positive


def programs_of(rng, n, dtype):
    """Returns all programs with inputs of one size and type. Names of complex programs say so."""
    a, b, tall, symmetric, positive = inputs(rng, n, dtype)
    programs = [*numpy_programs(a, b, tall, symmetric, positive)]
    if scipy:
        programs += scipy_programs(a, b, tall, symmetric, positive)
    if np.issubdtype(dtype, np.complexfloating):
        return [(name + ", complex", program) for name, program in programs]
    if scipy:
        programs += sparse_programs(a, positive)
    try:
        programs += scikit_learn_programs(b, tall)
    except ImportError:
        pass  # programs.py says so
    return programs

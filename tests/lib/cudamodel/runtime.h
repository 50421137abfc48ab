/* runtime.h - what generated code for CUDA is compiled against, in place of torch's aoti_runtime headers and of cuda.h. Names and
 * signatures are those of torch 2.13 (aoti_runtime/{utils,utils_cuda,model_base}.h, aoti_torch/c/shim.h), so that the wrapper's text is as
 * Inductor writes it; there is only what that text uses.
 */
#pragma once
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

/* ---- CUDA ---- */

typedef int CUresult;
typedef uint64_t CUdeviceptr;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef int cudaError_t;
enum { CUDA_SUCCESS = 0, cudaSuccess = 0, cudaErrorNotReady = 600 };
enum { CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8 };
enum { cudaMemcpyHostToDevice = 1, cudaMemcpyDefault = 4 };

extern "C" {
CUresult cuGetErrorString(CUresult, const char **);
CUresult cuModuleLoad(CUmodule *, const char *);
CUresult cuModuleUnload(CUmodule);
CUresult cuModuleGetFunction(CUfunction *, CUmodule, const char *);
CUresult cuFuncSetAttribute(CUfunction, int, int);
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, cudaStream_t, void **, void **);
cudaError_t cudaMalloc(void **, size_t);
cudaError_t cudaFree(void *);
cudaError_t cudaMemcpy(void *, const void *, size_t, int);
cudaError_t cudaGetDevice(int *);
cudaError_t cudaSetDevice(int);
cudaError_t cudaEventCreate(cudaEvent_t *);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t);
cudaError_t cudaEventQuery(cudaEvent_t);
cudaError_t cudaEventSynchronize(cudaEvent_t);
cudaError_t cudaEventDestroy(cudaEvent_t);
const char *cudaGetErrorString(cudaError_t);

/* ---- torch's C interface ---- */

struct AtenTensorOpaque;
struct CUDAStreamGuardOpaque;
struct AOTIProxyExecutorOpaque;
using AtenTensorHandle = AtenTensorOpaque *;
using AOTIProxyExecutorHandle = AOTIProxyExecutorOpaque *;
using AOTITorchError = int32_t;
int32_t aoti_torch_device_type_cpu();
int32_t aoti_torch_device_type_cuda();
int32_t aoti_torch_dtype_float32();
int32_t aoti_torch_layout_strided();
bool aoti_torch_grad_mode_is_enabled();
void aoti_torch_grad_mode_set_enabled(bool);
AOTITorchError aoti_torch_get_data_ptr(AtenTensorHandle, void **);
AOTITorchError aoti_torch_get_dim(AtenTensorHandle, int64_t *);
AOTITorchError aoti_torch_get_numel(AtenTensorHandle, int64_t *);
AOTITorchError aoti_torch_get_sizes(AtenTensorHandle, int64_t **);
AOTITorchError aoti_torch_get_strides(AtenTensorHandle, int64_t **);
AOTITorchError aoti_torch_get_dtype(AtenTensorHandle, int32_t *);
AOTITorchError aoti_torch_get_device_type(AtenTensorHandle, int32_t *);
AOTITorchError aoti_torch_delete_tensor_object(AtenTensorHandle);
AOTITorchError aoti_torch_clone_preserve_strides(AtenTensorHandle, AtenTensorHandle *);
AOTITorchError aoti_torch_empty_strided(int64_t, const int64_t *, const int64_t *, int32_t, int32_t, int32_t, AtenTensorHandle *);
AOTITorchError aoti_torch__reinterpret_tensor(AtenTensorHandle, int64_t, const int64_t *, const int64_t *, int64_t, AtenTensorHandle *);
AOTITorchError aoti_torch_create_tensor_from_blob_v2(void *, int64_t, const int64_t *, const int64_t *, int64_t, int32_t, int32_t, int32_t,
						     AtenTensorHandle *, int32_t, const uint8_t *, int64_t);
AOTITorchError aoti_torch_create_cuda_stream_guard(void *, int32_t, CUDAStreamGuardOpaque **);
AOTITorchError aoti_torch_delete_cuda_stream_guard(CUDAStreamGuardOpaque *);
AOTITorchError aoti_torch_cuda_addmm_out(AtenTensorHandle, AtenTensorHandle, AtenTensorHandle, AtenTensorHandle, double, double);
}

#include "forms.h"

#define AOTI_NOINLINE __attribute__((noinline))
#define AOTI_TORCH_ERROR_CODE_CHECK(call) \
	if ((call) != 0) \
	throw std::runtime_error(std::string(#call " API call failed at ") + __FILE__ + ", line " + std::to_string(__LINE__))
#define AOTI_RUNTIME_CUDA_CHECK(EXPR) \
	do { \
		const cudaError_t code = EXPR; \
		if (code != cudaSuccess) \
			throw std::runtime_error(std::string("CUDA error: ") + cudaGetErrorString(code)); \
	} while (0)
#define AOTI_TORCH_WARN(text) (std::cerr << "Warning: " << (text) << '\n')

#define CACHE_TORCH_DTYPE(typename) static auto cached_torch_dtype_##typename = aoti_torch_dtype_##typename()
#define CACHE_TORCH_DEVICE(device) static auto cached_torch_device_type_##device = aoti_torch_device_type_##device()
#define CACHE_TORCH_LAYOUT(layout) static auto cached_torch_layout_##layout = aoti_torch_layout_##layout()

namespace torch::aot_inductor
{

using DeviceStreamType = cudaStream_t;

/* ---- handles ---- */

class Handle
{
      public:
	explicit Handle(AtenTensorHandle h = nullptr) : h_(h) {}
	operator AtenTensorHandle() const { return h_; }
	AtenTensorHandle get() const { return h_; }
	int64_t *sizes() const
	{
		int64_t *v;
		AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_get_sizes(h_, &v));
		return v;
	}
	int64_t *strides() const
	{
		int64_t *v;
		AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_get_strides(h_, &v));
		return v;
	}
	void *data_ptr() const
	{
		void *p;
		AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_get_data_ptr(h_, &p));
		return p;
	}

      protected:
	AtenTensorHandle h_;
};

using ConstantHandle = Handle;

class RAIIAtenTensorHandle : public Handle
{
      public:
	explicit RAIIAtenTensorHandle(AtenTensorHandle h = nullptr) : Handle(h) {}
	RAIIAtenTensorHandle(RAIIAtenTensorHandle &&other) noexcept : Handle(other.release()) {}
	RAIIAtenTensorHandle &operator=(RAIIAtenTensorHandle &&other) noexcept
	{
		reset();
		h_ = other.release();
		return *this;
	}
	~RAIIAtenTensorHandle() { reset(); }
	void reset()
	{
		if (h_)
			aoti_torch_delete_tensor_object(h_);
		h_ = nullptr;
	}
	AtenTensorHandle release()
	{
		AtenTensorHandle h = h_;
		h_ = nullptr;
		return h;
	}
};

inline std::vector<RAIIAtenTensorHandle> steal_from_raw_handles_to_raii_handles(AtenTensorHandle *handles, size_t n)
{
	std::vector<RAIIAtenTensorHandle> v;
	for (size_t i = 0; i < n; i++) {
		v.emplace_back(handles[i]);
		handles[i] = nullptr;
	}
	return v;
}

inline AtenTensorHandle reinterpret_tensor_wrapper(AtenTensorHandle self, int64_t n_dim, const int64_t *size, const int64_t *stride,
						   int64_t offset)
{
	AtenTensorHandle h;
	AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch__reinterpret_tensor(self, n_dim, size, stride, offset, &h));
	return h;
}

inline RAIIAtenTensorHandle wrap_with_raii_handle_if_needed(AtenTensorHandle h) { return RAIIAtenTensorHandle(h); }

inline void assert_size_stride(AtenTensorHandle t, std::vector<int64_t> size, std::vector<int64_t> stride, const char *op)
{
	int64_t n, numel, *s, *z;
	std::stringstream text;
	AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_get_dim(t, &n));
	if (n != (int64_t)size.size())
		throw std::runtime_error("expected ndim " + std::to_string(size.size()) + " but got " + std::to_string(n) +
					 "\nError in op: " + op);
	AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_get_numel(t, &numel));
	if (!numel)
		return;
	AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_get_sizes(t, &s));
	AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_get_strides(t, &z));
	for (int64_t i = 0; i < n; i++)
		if (s[i] != size[(size_t)i] || (s[i] > 1 && z[i] != stride[(size_t)i]))
			text << (text.str().empty() ? "" : "; ") << "expected size " << s[i] << "==" << size[(size_t)i] << ", stride "
			     << z[i] << "==" << stride[(size_t)i] << " at dim=" << i;
	if (!text.str().empty())
		throw std::runtime_error(text.str() + "\nError in op: " + op);
}

class AOTICudaStreamGuard
{
      public:
	AOTICudaStreamGuard(cudaStream_t stream, int32_t device)
	{
		AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_create_cuda_stream_guard(stream, device, &guard_));
	}
	~AOTICudaStreamGuard() { aoti_torch_delete_cuda_stream_guard(guard_); }

      private:
	CUDAStreamGuardOpaque *guard_ = nullptr;
};

/* ---- the model ---- */

enum ConstantType : uint8_t { Unknown = 0, Parameter = 1, Buffer = 2 };
using ConstantMap = std::unordered_map<std::string, RAIIAtenTensorHandle>;

struct ParamInfo {
	const char *name = nullptr;
};
struct ConstInfo {
	const char *name = nullptr;
	std::vector<int64_t> shape, stride;
	int32_t dtype{}, device_type{}, layout{}, type{};
	int64_t offset{};
	size_t data_size{};
	const char *original_fqn = nullptr;
	bool from_folded{};
};

class AOTInductorModelKernelsBase
{
      public:
	virtual ~AOTInductorModelKernelsBase()
	{
		for (auto m : loaded_modules_)
			if (cuModuleUnload(m) != CUDA_SUCCESS)
				std::cerr << "Failed to unload CUDA module in AOTInductor model\n";
	}
	std::vector<CUmodule> loaded_modules_;
};

class AOTInductorModelBase
{
      public:
	AOTInductorModelBase(size_t inputs, size_t outputs, size_t constants, const std::string &device,
			     std::optional<std::string> cubin_dir, bool);
	virtual ~AOTInductorModelBase();
	std::vector<ParamInfo> inputs_info_, outputs_info_;
	std::vector<ConstInfo> constants_info_;
	std::string in_spec_, out_spec_;

      protected:
	std::shared_ptr<ConstantMap> constants_map_;
	std::shared_ptr<std::vector<ConstantHandle>> constants_;
	std::unique_ptr<AOTInductorModelKernelsBase> kernels_;
	std::optional<std::string> cubin_dir_;
	int32_t device_idx_ = 0;
	void update_constants_map(std::shared_ptr<ConstantMap> m) { constants_map_ = std::move(m); }
	void update_constants_array(std::shared_ptr<std::vector<ConstantHandle>> v) { constants_ = std::move(v); }
};

class AOTInductorModel : public AOTInductorModelBase
{
      public:
	AOTInductorModel(std::shared_ptr<ConstantMap>, std::shared_ptr<std::vector<ConstantHandle>>, const std::string &device_str,
			 std::optional<std::string> cubin_dir);
	~AOTInductorModel() override;
	std::unordered_map<std::string, AtenTensorHandle> const_run_impl(DeviceStreamType, AOTIProxyExecutorHandle,
									 bool initialization = false);
	void _const_run_impl(std::vector<AtenTensorHandle> &, DeviceStreamType, AOTIProxyExecutorHandle);
	void run_impl(AtenTensorHandle *, AtenTensorHandle *, DeviceStreamType, AOTIProxyExecutorHandle);
	void load_constants();
	void update_constants(const std::unordered_map<std::string, AtenTensorHandle> &);
	void run(AtenTensorHandle *, AtenTensorHandle *, DeviceStreamType);
	void wait();

      private:
	void *blob_ = nullptr;
	cudaEvent_t run_finished_ = nullptr;
};

} // namespace torch::aot_inductor

/* container.h - the container of models and the C interface of a compiled model (torch 2.13, aoti_runtime/{interface,model_container}.h),
 * as far as hosts of the tests and aoti-checkinputs use it. Constants are copied to the device when the container is made.
 */
#pragma once
#include <condition_variable>
#include <mutex>

#include "runtime.h"

extern "C" const uint8_t _binary_constants_bin_start[], _binary_constants_bin_end[];

namespace torch::aot_inductor
{

inline AOTInductorModelBase::AOTInductorModelBase(size_t inputs, size_t outputs, size_t constants, const std::string &device,
						  std::optional<std::string> cubin_dir, bool)
    : inputs_info_(inputs), outputs_info_(outputs), constants_info_(constants), cubin_dir_(std::move(cubin_dir))
{
	if (device.compare(0, 4, "cuda"))
		throw std::runtime_error("Invalid device: " + device);
	if (device.size() > 5) {
		device_idx_ = std::atoi(device.c_str() + 5);
		AOTI_RUNTIME_CUDA_CHECK(cudaSetDevice(device_idx_));
	} else {
		AOTI_RUNTIME_CUDA_CHECK(cudaGetDevice(&device_idx_));
	}
}

inline AOTInductorModelBase::~AOTInductorModelBase() = default;

inline AOTInductorModel::~AOTInductorModel()
{
	if (run_finished_)
		cudaEventDestroy(run_finished_);
	constants_map_.reset();
	if (blob_)
		cudaFree(blob_);
}

inline void AOTInductorModel::load_constants()
{
	size_t bytes = (size_t)(_binary_constants_bin_end - _binary_constants_bin_start);
	AOTI_RUNTIME_CUDA_CHECK(cudaMalloc(&blob_, bytes));
	AOTI_RUNTIME_CUDA_CHECK(cudaMemcpy(blob_, _binary_constants_bin_start, bytes, cudaMemcpyHostToDevice));
	for (auto &k : constants_info_) {
		AtenTensorHandle h;
		AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_create_tensor_from_blob_v2((uint8_t *)blob_ + k.offset, (int64_t)k.shape.size(),
										  k.shape.data(), k.stride.data(), 0, k.dtype,
										  k.device_type, device_idx_, &h, k.layout, nullptr, 0));
		constants_->emplace_back(h);
		constants_map_->emplace(k.name, RAIIAtenTensorHandle(h));
	}
}

inline void AOTInductorModel::update_constants(const std::unordered_map<std::string, AtenTensorHandle> &values)
{
	for (auto &k : constants_info_) {
		auto v = values.find(k.name);
		if (v != values.end())
			AOTI_RUNTIME_CUDA_CHECK(
			    cudaMemcpy((uint8_t *)blob_ + k.offset, Handle(v->second).data_ptr(), k.data_size, cudaMemcpyDefault));
	}
}

inline void AOTInductorModel::run(AtenTensorHandle *in, AtenTensorHandle *out, DeviceStreamType stream)
{
	if (!run_finished_)
		AOTI_RUNTIME_CUDA_CHECK(cudaEventCreate(&run_finished_));
	run_impl(in, out, stream, nullptr);
	AOTI_RUNTIME_CUDA_CHECK(cudaEventRecord(run_finished_, stream));
}

inline void AOTInductorModel::wait() { AOTI_RUNTIME_CUDA_CHECK(cudaEventSynchronize(run_finished_)); }

/* A model that was used goes back at once: work of a device is done in the order of its issue, events are only kept for others. */
class AOTInductorModelContainer
{
      public:
	AOTInductorModelContainer(size_t n, const std::string &device, const std::optional<std::string> &dir)
	{
		for (size_t i = 0; i < n; i++) {
			models.push_back(std::make_unique<AOTInductorModel>(std::make_shared<ConstantMap>(),
									    std::make_shared<std::vector<ConstantHandle>>(), device, dir));
			models.back()->load_constants();
			available.push_back(models.back().get());
		}
	}
	void run(AtenTensorHandle *in, AtenTensorHandle *out, DeviceStreamType stream, bool alone)
	{
		AOTInductorModel *m = take();
		try {
			alone ? m->run_impl(in, out, stream, nullptr) : m->run(in, out, stream);
		} catch (...) {
			give(m);
			throw;
		}
		give(m);
	}
	AOTInductorModel *first() { return models[0].get(); }
	void update(const std::unordered_map<std::string, AtenTensorHandle> &values)
	{
		for (auto &m : models)
			m->update_constants(values);
	}

      private:
	std::vector<std::unique_ptr<AOTInductorModel>> models;
	std::vector<AOTInductorModel *> available;
	std::mutex lock;
	std::condition_variable some;
	AOTInductorModel *take()
	{
		std::unique_lock l(lock);
		some.wait(l, [this] { return !available.empty(); });
		AOTInductorModel *m = available.back();
		available.pop_back();
		return m;
	}
	void give(AOTInductorModel *m)
	{
		std::lock_guard l(lock);
		available.push_back(m);
		some.notify_one();
	}
};

} // namespace torch::aot_inductor

static thread_local std::string g_aoti_last_error;
#define CONVERT_EXCEPTION_TO_ERROR_CODE(...) \
	try { \
		g_aoti_last_error.clear(); \
		__VA_ARGS__ \
	} catch (const std::exception &e) { \
		g_aoti_last_error = e.what(); \
		std::cerr << "Error: " << e.what() << '\n'; \
		return 1; \
	} \
	return 0;

extern "C" {
using Container = torch::aot_inductor::AOTInductorModelContainer;

int32_t AOTInductorModelContainerCreateWithDevice(Container **c, size_t n, const char *device, const char *dir)
{
	CONVERT_EXCEPTION_TO_ERROR_CODE(*c = new Container(n, device, dir ? std::optional<std::string>(dir) : std::nullopt);)
}
int32_t AOTInductorModelContainerCreate(Container **c, size_t n, bool cpu, const char *dir)
{
	return AOTInductorModelContainerCreateWithDevice(c, n, cpu ? "cpu" : "cuda", dir);
}
int32_t AOTInductorModelContainerDelete(Container *c) { CONVERT_EXCEPTION_TO_ERROR_CODE(delete c;) }

static int32_t run(Container *c, AtenTensorHandle *in, size_t n_in, AtenTensorHandle *out, size_t n_out, void *stream,
		   bool alone){CONVERT_EXCEPTION_TO_ERROR_CODE({
	if (n_in != c->first()->inputs_info_.size())
		throw std::runtime_error("expected inputs vector size to be " + std::to_string(c->first()->inputs_info_.size()) +
					 ", but got " + std::to_string(n_in));
	if (n_out != c->first()->outputs_info_.size())
		throw std::runtime_error("expected outputs vector size to be " + std::to_string(c->first()->outputs_info_.size()) +
					 ", but got " + std::to_string(n_out));
	bool grad = aoti_torch_grad_mode_is_enabled();
	aoti_torch_grad_mode_set_enabled(false);
	try {
		c->run(in, out, (cudaStream_t)stream, alone);
	} catch (...) {
		aoti_torch_grad_mode_set_enabled(grad);
		throw;
	}
	aoti_torch_grad_mode_set_enabled(grad);
})} int32_t
    AOTInductorModelContainerRun(Container *c, AtenTensorHandle *in, size_t n_in, AtenTensorHandle *out, size_t n_out, void *stream, void *)
{
	return run(c, in, n_in, out, n_out, stream, false);
}
int32_t AOTInductorModelContainerRunSingleThreaded(Container *c, AtenTensorHandle *in, size_t n_in, AtenTensorHandle *out, size_t n_out,
						   void *stream, void *)
{
	return run(c, in, n_in, out, n_out, stream, true);
}

#define GETTER(name, type, value) \
	int32_t AOTInductorModelContainerGet##name(Container *c, type *out) { return *out = (value), 0; }
#define GETTER_OF(name, type, value) \
	int32_t AOTInductorModelContainerGet##name(Container *c, size_t i, type *out) { return *out = (value), 0; }
GETTER(NumInputs, size_t, c->first()->inputs_info_.size())
GETTER(NumOutputs, size_t, c->first()->outputs_info_.size())
GETTER(NumConstants, size_t, c->first()->constants_info_.size())
GETTER_OF(InputName, const char *, c->first()->inputs_info_.at(i).name)
GETTER_OF(OutputName, const char *, c->first()->outputs_info_.at(i).name)
GETTER_OF(ConstantName, const char *, c->first()->constants_info_.at(i).name)
GETTER_OF(ConstantOriginalFQN, const char *, c->first()->constants_info_.at(i).original_fqn)
GETTER_OF(ConstantFromFolded, bool, c->first()->constants_info_.at(i).from_folded)
GETTER_OF(ConstantType, int32_t, c->first()->constants_info_.at(i).type)
GETTER_OF(ConstantDtype, int32_t, c->first()->constants_info_.at(i).dtype)
GETTER_OF(ConstantDataSize, size_t, c->first()->constants_info_.at(i).data_size)

/* All values are used by all calls at once: what validate_full_update and the inactive buffer are for is left out. */
int32_t AOTInductorModelContainerUpdateConstantBuffer(Container *c, const std::unordered_map<std::string, AtenTensorHandle> *values, bool,
						      bool)
{
	CONVERT_EXCEPTION_TO_ERROR_CODE(c->update(*values);)
}

int32_t AOTInductorModelContainerGetCallSpec(Container *c, const char **in, const char **out)
{
	*in = c->first()->in_spec_.c_str();
	*out = c->first()->out_spec_.c_str();
	return 0;
}
int32_t AOTInductorGetLastError(const char **text) { return *text = g_aoti_last_error.c_str(), 0; }
}

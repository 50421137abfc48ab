// host MODEL.pt2 INPUTS.pt THREADS CALLS : a C++ program that serves a compiled model through libtorch's loader, as torch's guide
// shows it. Every thread makes its calls; one line for each kind of result, with how many calls gave it: the bits of all outputs.
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

static std::vector<at::Tensor> read_inputs(const char *path)
{
	std::ifstream f(path, std::ios::binary);
	std::vector<char> bytes((std::istreambuf_iterator<char>(f)), std::istreambuf_iterator<char>());
	const at::IValue list = torch::jit::pickle_load(bytes);
	std::vector<at::Tensor> inputs;
	for (const at::IValue &v : list.toListRef())
		inputs.push_back(v.toTensor());
	return inputs;
}

// FNV-1a over sizes, strides and the elements in order.
static uint64_t digest(const std::vector<at::Tensor> &out)
{
	uint64_t h = 14695981039346656037u;
	auto add = [&h](const void *p, size_t n) {
		for (size_t i = 0; i < n; i++)
			h = (h ^ static_cast<const unsigned char *>(p)[i]) * 1099511628211u;
	};
	for (const at::Tensor &t : out) {
		add(t.sizes().data(), t.sizes().size() * sizeof(int64_t));
		add(t.strides().data(), t.strides().size() * sizeof(int64_t));
		at::Tensor c = t.contiguous();
		add(c.const_data_ptr(), c.nbytes());
	}
	return h;
}

int main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	c10::InferenceMode guard;
	torch::inductor::AOTIModelPackageLoader model(argv[1]);
	const std::vector<at::Tensor> inputs = read_inputs(argv[2]);
	std::map<std::string, long> results;
	std::mutex lock;
	auto work = [&] {
		c10::InferenceMode inner;
		std::map<std::string, long> mine;
		for (long i = 0; i < std::stol(argv[4]); i++) {
			try {
				mine[std::to_string(digest(model.run(inputs)))]++;
			} catch (const std::exception &e) {
				mine[std::string("exception: ") + std::string(e.what()).substr(0, strcspn(e.what(), "\n"))]++;
			}
		}
		std::lock_guard<std::mutex> hold(lock);
		for (auto &m : mine)
			results[m.first] += m.second;
	};
	std::vector<std::thread> threads;
	for (long i = 0; i < std::stol(argv[3]); i++)
		threads.emplace_back(work);
	for (auto &t : threads)
		t.join();
	for (auto &r : results)
		printf("%s %ld\n", r.first.c_str(), r.second);
	return 0;
}

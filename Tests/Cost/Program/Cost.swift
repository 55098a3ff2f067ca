#if os(Linux)
import CErrandCounter
#endif
import Errand
import ErrandEssentials
import ErrandTesting

/// Prints what one send asks of the heap, a line each: allocations and bytes, for Tests/Cost/check.
@main
struct Cost {
    private struct GetData: Request { let path = "users/7" }

    static func main() async throws { try await measure() }

    /// Off the main actor, as a server would.
    @concurrent private static func measure() async throws {
        let transport = StubTransport(.data(Data([1, 2, 3])), recording: 0)
        let agent = NetworkAgent(baseURL: "https://api.example.com/v1", transport: transport)
        for _ in 0..<500 { _ = try await agent.send(GetData()) }
        #if os(Linux)
        let (calls, bytes, count) = (errand_heap_calls(), errand_heap_bytes(), 1000)
        for _ in 0..<count { _ = try await agent.send(GetData()) }
        print("allocations", Double(errand_heap_calls() - calls) / Double(count))
        print("bytes", Double(errand_heap_bytes() - bytes) / Double(count))
        #endif
    }
}

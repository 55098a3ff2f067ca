import Dispatch
import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#else
import Darwin
#endif

#if os(Linux)
import CErrandCounter
#endif

/// Prints the heap allocations and bytes of one send, one per line, for Tests/Cost/check. With the argument
/// `plugins`, prints the allocations of a send with each of some plugins; with `times`, its nanoseconds; with `whole`,
/// those of all threads, for rows with background work.
@main
struct Cost {
    private struct GetData: Request { let path = "users/7" }
    private struct Idle: Filter {
        func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await next(exchange) }
    }
    private struct Deaf: Accessory { func activity(_ activity: Activity, did event: ActivityEvent) {} }

    /// Runs off the main actor, as a server would, but on the main thread, the only thread that instruction profilers
    /// see reliably. Optional arguments: numbers of sends, of idle filters, and of accessories that drop all events.
    static func main() {
        let names = CommandLine.arguments.dropFirst()
        if names.first == "plugins" {
            return stayingOnThread { try await measurePlugins(named: Set(names.dropFirst())) }
        }
        if names.first == "whole" { return waiting { await measureWhole(named: Set(names.dropFirst())) } }
        if names.first == "times" { return stayingOnThread { try await timePlugins(named: Set(names.dropFirst())) } }
        var numbers = [1000, 0, 0]
        for (place, text) in CommandLine.arguments.dropFirst().prefix(3).enumerated() {
            numbers[place] = Int(text) ?? numbers[place]
        }
        stayingOnThread { [numbers] in
            try await measure(numbers[0], filters: numbers[1], accessories: numbers[2])
        }
    }

    /// Runs a body that changes threads.
    private static func waiting(for body: @escaping @Sendable @concurrent () async -> Void) {
        let done = DispatchSemaphore(value: 0)
        Task {
            await body()
            done.signal()
        }
        done.wait()
    }

    private static func stayingOnThread(_ body: @escaping @Sendable @concurrent () async throws -> Void) {
        let done = Mutex(false)
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        Task.immediate { @concurrent in
            try await body()
            done.withLock { $0 = true }
        }
        precondition(done.withLock { $0 }, "a send through a stub has left its thread")
    }

    /// Marks divide a profiler's counts. There are 200 sends between two marks.
    private static func measurePlugins(named names: Set<String>) async throws {
        for row in PluginRow.all() where names.isEmpty || names.contains(row.name) {
            try await row.send(300)
            #if os(Linux)
            errand_cost_mark()
            let calls = errand_heap_calls()
            try await row.send(200)
            let count = errand_heap_calls() - calls
            errand_cost_mark()
            print(row.name, Double(count) / 200)
            #endif
        }
    }

    /// Marks divide the counts of a profiler that counts all threads. There are 3,000 calls between two marks, after
    /// 1,000 calls to warm up. Prints the nanoseconds of CPU time of a call.
    @concurrent private static func measureWhole(named names: Set<String>) async {
        let directory = FileManager.default.temporaryDirectory.appending(path: "errand-cost-\(getpid())")
        defer { try? FileManager.default.removeItem(at: directory) }
        do {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            for row in PluginRow.whole(in: directory) where names.isEmpty || names.contains(row.name) {
                try await row.sendAndSettle(1000)
                #if os(Linux)
                errand_cost_mark()
                #endif
                let start = time(of: CLOCK_PROCESS_CPUTIME_ID)
                try await row.sendAndSettle(3000)
                let nanoseconds = (time(of: CLOCK_PROCESS_CPUTIME_ID) - start) / 3000
                #if os(Linux)
                errand_cost_mark()
                #endif
                print(row.name, nanoseconds.rounded())
            }
        } catch { fatalError("\(error)") }
    }

    /// Measures CPU time of the sending thread; takes the minimum of interleaved rounds.
    private static func timePlugins(named names: Set<String>) async throws {
        let rows = PluginRow.all().filter { names.isEmpty || names.contains($0.name) }
        var best = [Double](repeating: .infinity, count: rows.count)
        for _ in 0..<25 {
            for (place, row) in rows.enumerated() {
                let start = threadTime()
                try await row.send(200)
                best[place] = min(best[place], (threadTime() - start) / 200)
            }
        }
        for (row, nanoseconds) in zip(rows, best) { print(row.name, nanoseconds.rounded()) }
    }

    private static func threadTime() -> Double { time(of: CLOCK_THREAD_CPUTIME_ID) }

    /// Returns a clock's time in nanoseconds.
    private static func time(of clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }

    private static func measure(_ count: Int, filters: Int, accessories: Int) async throws {
        let transport = StubTransport(.data(Data([1, 2, 3])), maximumRecordedRequests: 0)
        let agent = NetworkAgent(
            baseURL: "https://api.example.com/v1", transport: transport,
            filters: Array(repeating: Idle(), count: filters),
            accessories: Array(repeating: Deaf(), count: accessories))
        for _ in 0..<500 { _ = try await agent.send(GetData()) }
        #if os(Linux)
        let (calls, bytes) = (errand_heap_calls(), errand_heap_bytes())
        for _ in 0..<count { _ = try await agent.send(GetData()) }
        print("allocations", Double(errand_heap_calls() - calls) / Double(count))
        print("bytes", Double(errand_heap_bytes() - bytes) / Double(count))
        #endif
    }
}

import Errand
import ErrandCache
import ErrandTesting
import Testing

@testable import ErrandRecording

@Suite(.endsInTime, .leakChecked)
struct NetworkMetricsTests {
    private let time = ManualTimeSource()

    @Test("requests, failures by kind, cancellations, bytes and hits are counted by host")
    func counts() async throws {
        let recorder = ExchangeRecorder(maximumExchanges: 0, time: time)
        let progress = TransportEvent.progress(TransferProgress(sent: 3, received: 10))
        func agent(_ response: StubResponse, host: String = "api.example.com") -> NetworkAgent {
            NetworkAgent(
                baseURL: "https://\(host)", transport: .stub(response),
                filters: [.cache(.memory(), policy: .timed(.seconds(60)))], accessories: [recorder], time: time)
        }
        let good = agent(.text("ok").reporting(progress))
        for _ in 0..<3 { _ = try await good.send(Get()) }
        _ = try? await agent(.text("no", status: 500)).send(Get())
        _ = try? await agent(.failure(ErrandError(.timedOut, "late")), host: "Other.example").send(Get())
        _ = try? await agent(.text("ok")).send(Get(path: "a b"))
        let gate = Gate()
        let handle = agent(.text("ok").waiting(for: gate)).start(Get())
        try await gate.reached()
        handle.cancel()
        _ = await handle.result
        let api = try #require(recorder.metrics.hosts["api.example.com"])
        #expect(api.requests == 5 && api.succeeded == 3 && api.cacheHits == 2 && api.cancelled == 1)
        #expect(api.failures == ["unacceptableStatus": 1] && api.failed == 1)
        #expect(api.bytesSent == 3 && api.bytesReceived == 10)
        #expect(recorder.metrics.hosts["other.example"]?.failures == ["timedOut": 1])
        #expect(recorder.metrics.hosts["none"]?.failures == ["invalidURL": 1])
        #expect(recorder.reset().metrics.hosts.count == 3 && recorder.metrics.hosts.isEmpty)
    }

    @Test("percentiles are at most an eighth too long")
    func percentiles() async throws {
        let recorder = ExchangeRecorder(maximumExchanges: 0, time: time)
        for milliseconds in 1...100 {
            let gate = Gate()
            let agent = NetworkAgent(
                baseURL: base, transport: .stub(.text("ok").waiting(for: gate)), accessories: [recorder], time: time)
            let handle = agent.start(Get())
            try await gate.reached()
            time.advance(by: .milliseconds(milliseconds))
            gate.open()
            _ = try await handle.value
        }
        let host = try #require(recorder.metrics.hosts["api.example.com"])
        for (percent, wanted) in [(50.0, 50), (99, 99), (100, 100), (0, 1), (-5, 1), (500, 100)] {
            let value = try #require(host.percentile(percent)) / .milliseconds(1)
            #expect(value >= Double(wanted) && value <= Double(wanted) * 1.126, "\(percent): \(value)")
        }
        #expect(HostMetrics().percentile(50) == nil && host.percentile(.nan) == nil)
    }

    @Test("buckets contain the values of their range, at any size")
    func buckets() {
        var last = -1
        for exponent in UInt64(1)..<41 {
            let power = UInt64(1) << exponent
            for value in [power, power + 1, 2 * power - 1] {
                let bucket = Histogram.bucket(value)
                #expect(Histogram.end(of: bucket) >= value)
                if bucket > 0 { #expect(Histogram.end(of: bucket - 1) < value) }
                #expect(bucket >= last)
                last = bucket
            }
        }
        var histogram = Histogram()
        histogram.add(.max)
        #expect(histogram.percentile(50) != nil)
    }

    @Test("the numbers of hosts and of failure kinds are limited")
    func bounds() async throws {
        let recorder = ExchangeRecorder(maximumHosts: 10, time: time)
        for number in 0..<30 {
            let agent = NetworkAgent(
                baseURL: "https://host\(number).example", transport: .stub(.text("ok")), accessories: [recorder])
            _ = try await agent.send(Get())
        }
        #expect(recorder.metrics.hosts.count == 11)
        #expect(recorder.metrics.hosts["other"]?.requests == 20)
        var host = HostMetrics()
        for number in 0..<1000 { host.count(failure: "kind \(number)") }
        #expect(host.failures.count == 51 && host.failed == 1000)
    }
}

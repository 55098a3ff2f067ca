import Errand
import ErrandRecording
import ErrandTesting
import Foundation
import Testing

@Suite(.endsInTime, .leakChecked)
struct ExchangeRecorderTests {
    private let time = ManualTimeSource()

    private func agent(
        _ response: StubResponse, _ recorder: ExchangeRecorder, filters: [any Filter] = []
    ) -> NetworkAgent {
        NetworkAgent(
            baseURL: base, transport: .stub(response), filters: filters, accessories: [recorder], time: time)
    }

    @Test("an exchange has its request, response, bodies, times and activity")
    func exchange() async throws {
        let recorder = ExchangeRecorder(maximumBodyBytes: 100, time: time)
        var timings = TransferTimings()
        (timings.firstByte, timings.total, timings.httpVersion) = (.milliseconds(3), .milliseconds(5), "2")
        let gate = Gate()
        let response = StubResponse.json(#"{"id":7}"#, status: 404).reporting(.timings(timings)).waiting(for: gate)
        let agent = agent(response, recorder, filters: [Again()])
        time.advance(by: .seconds(2))
        let date = time.date
        let handle = agent.start(Post(body: .json(["name": "Ada"])))
        try await gate.reached()
        time.advance(by: .seconds(1))
        gate.open()
        _ = await handle.result
        let recording = recorder.recording
        #expect(recording.exchanges.map(\.attempt) == [1, 2])
        #expect(recording.exchanges.map(\.outcome) == [nil, .failure("unacceptableStatus")])
        let first = try #require(recording.exchanges.first)
        #expect(first.request.method == .post && first.request.url == base + "/items")
        #expect(first.request.body.text == #"{"name":"Ada"}"# && first.request.body.length == 14)
        #expect(first.request.body.contentType?.hasPrefix("application/json") == true)
        #expect(first.response?.status == 404 && first.response?.body.text == #"{"id":7}"#)
        #expect(first.response?.body.isTruncated == false && first.version == "2")
        #expect(first.offset == .seconds(2) && first.duration == .seconds(1) && first.date == date)
        #expect(first.phases.wait == .milliseconds(3) && first.phases.receive == .milliseconds(2))
        let activity = try #require(recording.activities.first)
        #expect(recording.activities.count == 1 && activity.id == first.activity && activity.label == "items")
        #expect(activity.outcome == .failure("unacceptableStatus") && activity.host == "api.example.com")
        #expect(activity.offset == .seconds(2) && activity.duration == .seconds(1))
    }

    /// Sends the request twice concurrently; the first gets its response last.
    private struct Twice: Filter {
        let first: Gate
        func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
            async let one = next(exchange)
            try await first.reached()
            let other = try await next(exchange)
            first.open()
            _ = try await one
            return other
        }
    }

    @Test("concurrent exchanges of one activity have their own responses")
    func concurrent() async throws {
        let recorder = ExchangeRecorder(time: time)
        let gate = Gate()
        let transport = StubTransport(.status(204))
        transport.on("/v1/text", response: .status(206).waiting(for: gate), .status(200))
        let agent = NetworkAgent(
            baseURL: base, transport: transport, filters: [Twice(first: gate)], accessories: [recorder], time: time)
        _ = try await agent.send(Get())
        let exchanges = recorder.recording.exchanges
        #expect(exchanges.map(\.attempt) == [1, 2] && exchanges.map(\.response?.status) == [206, 200])
    }

    /// Repeats a request once if the status is 401, as a filter with a new credential does.
    private struct Repeat: Filter {
        let stages: FilterStages = .hop
        func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
            let response = try await next(exchange)
            return response.status == 401 ? try await next(exchange) : response
        }
    }

    @Test("a request that is repeated within a hop has its own response, even if the transport reports no timings")
    func repeatedWithinHop() async throws {
        let recorder = ExchangeRecorder(maximumBodyBytes: 100, time: time)
        let transport = StubTransport(.status(404))
        transport.on("/v1/text", response: .text("no", status: 401), .text("yes"))
        let agent = NetworkAgent(
            baseURL: base, transport: transport, filters: [Repeat()], accessories: [recorder], time: time)
        _ = try await agent.send(Get())
        let exchanges = recorder.recording.exchanges
        #expect(exchanges.map(\.response?.status) == [401, 200])
        #expect(exchanges.map(\.response?.body.text) == ["no", "yes"])
        #expect(exchanges.map(\.attempt) == [1, 1] && exchanges.map(\.hop) == [1, 1])
    }

    @Test("concurrent exchanges of one activity have their own bodies")
    func concurrentBodies() async throws {
        let (recorder, filter) = (ExchangeRecorder(maximumBodyBytes: 100, time: time), FirstWins())
        let agent = NetworkAgent(
            baseURL: base, transport: filter.transport, filters: [filter], accessories: [recorder], time: time)
        _ = try await agent.send(Get())
        let exchanges = recorder.recording.exchanges.sorted { $0.attempt < $1.attempt }
        #expect(exchanges.map(\.request.body.text) == ["first", "second"])
        #expect(exchanges.map(\.response?.body.text) == ["one", nil])
    }

    /// Reports a request's timings when its response arrives; the first request's last.
    private struct Timed: Transport {
        let first: Gate
        func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
            let number = request.headers["X-Number"] == "1" ? 1 : 2
            if number == 1 { try await first.wait() }
            var timings = TransferTimings()
            timings.total = .seconds(number)
            options.report(.timings(timings))
            return HTTPResponse(to: request, status: 200 + number)
        }
    }

    /// Sends two concurrent requests as attempts of one activity.
    private struct Both: Filter {
        let first: Gate
        func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
            var one = exchange
            one.http.headers["X-Number"] = "1"
            async let early = next(one)
            try await first.reached()
            let late = try await next(exchange)
            first.open()
            _ = try await early
            return late
        }
    }

    @Test("concurrent exchanges of one activity have their own timings")
    func concurrentTimings() async throws {
        let (recorder, gate) = (ExchangeRecorder(time: time), Gate())
        let agent = NetworkAgent(
            baseURL: base, transport: Timed(first: gate), filters: [Both(first: gate)], accessories: [recorder],
            time: time)
        _ = try await agent.send(Get())
        let exchanges = recorder.recording.exchanges.sorted { $0.attempt < $1.attempt }
        #expect(exchanges.map(\.response?.status) == [201, 202])
        #expect(exchanges.map(\.timings?.total) == [.seconds(1), .seconds(2)])
        #expect(exchanges.map(\.timings?.position?.attempt) == [1, 2])
        #expect(exchanges.map(\.timings?.position?.hop) == [1, 1])
    }

    @Test("an attempt without a response ends when the next one begins")
    func failedAttempt() async throws {
        struct Retry: Filter {
            let time: ManualTimeSource
            func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
                do { return try await next(exchange) } catch {
                    time.advance(by: .seconds(3))
                    return try await next(exchange)
                }
            }
        }
        let recorder = ExchangeRecorder(time: time)
        let agent = agent(.failure(ErrandError(.connectionLost, "gone")), recorder, filters: [Retry(time: time)])
        _ = try? await agent.send(Get())
        let exchanges = recorder.recording.exchanges
        #expect(exchanges.map(\.duration) == [.seconds(3), .zero] && exchanges.map(\.attempt) == [1, 2])
        #expect(exchanges.map(\.outcome) == [nil, .failure("connectionLost")])
    }

    @Test("the newest values are kept, up to a limit in bytes")
    func bytes() async throws {
        let recorder = ExchangeRecorder(maximumBodyBytes: 10_000, maximumBytes: 50_000, time: time)
        let agent = agent(.text(String(repeating: "x", count: 9_000)), recorder)
        for number in 0..<20 { _ = try await agent.send(Get(path: "\(number)")) }
        let recording = recorder.recording
        #expect((3...5).contains(recording.exchanges.count))
        #expect(recording.droppedExchanges == 20 - recording.exchanges.count && recording.activities.count == 20)
        #expect(recording.exchanges.last?.request.url.hasSuffix("/19") == true)
        #expect(recorder.metrics.hosts["api.example.com"]?.requests == 20)
        let tiny = ExchangeRecorder(maximumBytes: 10, time: time)
        _ = try await self.agent(.text("ok"), tiny).send(Get())
        #expect(tiny.recording.exchanges.isEmpty && tiny.recording.droppedExchanges == 1)
    }

    @Test("a recorder that keeps no exchanges counts, and doesn't ask for bodies")
    func counting() async throws {
        let recorder = ExchangeRecorder(maximumBodyBytes: 100, maximumExchanges: 0, time: time)
        _ = try await agent(.text("ok"), recorder).send(Get())
        #expect(recorder.recording.exchanges.isEmpty && recorder.recording.activities.isEmpty)
        #expect(recorder.metrics.hosts["api.example.com"]?.succeeded == 1 && recorder.maximumBodyBytes == 0)
    }

    @Test("a reset returns finished exchanges; running ones go into the new recording")
    func reset() async throws {
        let recorder = ExchangeRecorder(time: time)
        let gate = Gate()
        _ = try await agent(.text("ok"), recorder).send(Get(path: "before"))
        let handle = agent(.text("ok").waiting(for: gate), recorder).start(Get(path: "after"))
        try await gate.reached()
        let old = recorder.reset()
        gate.open()
        _ = try await handle.value
        #expect(old.exchanges.map(\.request.url) == ["\(base)/before"] && old.metrics.hosts.count == 1)
        #expect(recorder.recording.exchanges.map(\.request.url) == ["\(base)/after"])
        #expect(recorder.recording.activities.count == 1)
    }

    @Test("a failure in the middle of a body keeps the head of the response")
    func evidence() async throws {
        let recorder = ExchangeRecorder(maximumBodyBytes: 3, time: time)
        var error = ErrandError(.truncated, "cut off")
        error.response = HTTPResponse(
            url: try #require(URL(string: base)), status: 206, headers: ["Content-Type": "text/plain"],
            body: HTTPBody(Data("half of it".utf8)))
        _ = try? await agent(.failure(error), recorder).send(Get())
        let exchange = try #require(recorder.recording.exchanges.first)
        #expect(exchange.response?.status == 206 && exchange.outcome == .failure("truncated"))
        #expect(exchange.response?.body.text == "hal" && exchange.response?.body.isTruncated == true)
    }

    @Test("secrets are masked in bodies that aren't UTF-8, and compressed bodies are left out")
    func unreadableBodies() async throws {
        let recorder = ExchangeRecorder(maximumBodyBytes: 10_000, time: time)
        let latin = Data(#"{"password":"c4n4ry-s3cr3t","city":"Z"#.utf8) + [0xFC] + Data(#"rich"}"#.utf8)
        _ = try await agent(.data(latin, contentType: "application/json"), recorder).send(Post())
        let packed = StubResponse.data(Data("c4n4ry-s3cr3t".utf8)).header("Content-Encoding", "x-own")
            .header("Content-Type", "application/json")
        _ = try await agent(packed, recorder).send(Post())
        let form = RequestBody.data(
            Data("secret=c4n4ry-s3cr3t&x=".utf8) + [0xFC], contentType: "application/x-www-form-urlencoded")
        _ = try await agent(.text("ok"), recorder).send(Post(body: form))
        for exchange in recorder.recording.exchanges {
            for body in [exchange.request.body, exchange.response?.body ?? RecordedBody()] {
                #expect(body.data.firstRange(of: Data("c4n4ry".utf8)) == nil)
            }
        }
        #expect(recorder.recording.exchanges[0].response?.body.data.firstRange(of: Data("rich".utf8)) != nil)
        #expect(recorder.recording.exchanges[1].response?.body.omission != nil)
        let archive = recorder.harFile()
        #expect(archive.log.entries[1].response.content.comment?.contains("content coding") == true)
        #expect(archive.log.entries[0].response.content.encoding == "base64")
    }

    @Test("an exchange that has just ended shows no secrets, even if several readers mask it concurrently")
    func maskedByReaders() async throws {
        let recorder = ExchangeRecorder(maximumBodyBytes: 10_000, time: time)
        let agent = agent(.json(#"{"session":"c4n4ry-s3cr3t"}"#), recorder)
        let body = RequestBody.data(Data(#"{"password":"c4n4ry-0f-ada"}"#.utf8), contentType: "application/json")
        for number in 1...20 {
            _ = try await agent.send(Post(path: "items?token=c4n4ry-t0k3n", body: body))
            var dumped = ""
            dump(recorder, to: &dumped)
            #expect(!dumped.contains("c4n4ry"))
            let recordings = await withTaskGroup(of: Recording.self) { readers in
                for _ in 0..<3 { readers.addTask { recorder.recording } }
                return await readers.reduce(into: []) { $0.append($1) }
            }
            for recording in recordings {
                #expect(recording.exchanges.count == number && recording.exchanges == recordings[0].exchanges)
                let text = String(decoding: try recording.harFile().encoded(), as: UTF8.self)
                #expect(!text.contains("c4n4ry") && text.contains("•••"))
                #expect(recording.activities.allSatisfy { !$0.label.contains("c4n4ry") })
            }
        }
    }

    @Test("the limit in bytes applies to masked bodies, which are longer")
    func bytesOfMasks() async throws {
        let recorder = ExchangeRecorder(maximumBodyBytes: 10_000, maximumBytes: 50_000, time: time)
        let fields = Array(repeating: #""pwd":1"#, count: 1_000).joined(separator: ",")
        let agent = agent(.json("{\(fields)}"), recorder)
        for number in 0..<20 { _ = try await agent.send(Get(path: "\(number)")) }
        try await eventually { recorder.recording.exchanges.count <= 3 }
        #expect(recorder.recording.exchanges.last?.request.url.hasSuffix("/19") == true)
        #expect(recorder.recording.exchanges.last?.response?.body.data.count ?? 0 > 10_000)
    }

    @Test("values created by hand are rendered: an archive is read back, and exchanges without activities have bars")
    func madeByHand() throws {
        let date = Date(timeIntervalSince1970: 1_000)
        let exchange = RecordedExchange(
            request: RecordedExchange.Request(.put, "https://example.com/a?b=c&d", headers: ["X-A": "1"]),
            response: RecordedExchange.Response(
                status: 201, version: "1.1", body: RecordedBody(Data("done".utf8), contentType: "text/plain")),
            label: "by hand", date: date, duration: .milliseconds(20), timeToHead: .milliseconds(15),
            outcome: .success)
        let recording = Recording(exchanges: [exchange, exchange])
        let file = recording.harFile()
        let copy = try JSONDecoder().decode(HARFile.self, from: file.encoded())
        #expect(copy == file && copy.log.entries.count == 2)
        let entry = try #require(copy.log.entries.first)
        #expect(entry.startedDateTime.hasPrefix("1970-01-01T00:16:40") && entry.time == 20)
        #expect(entry.timings.wait == 15 && entry.timings.receive == 5 && entry.timings.dns == -1)
        #expect(
            entry.request.queryString.map(\.name) == ["b", "d"] && entry.request.queryString.map(\.value) == ["c", ""])
        #expect(entry.response.content.text == "done" && entry.response.bodySize == 4)
        let page = recording.waterfallPage(title: "By hand").html
        #expect(page.contains("2 activities in 20.0 ms") && page.contains("PUT https://example.com/a?b=c&amp;d, 201"))
    }

    @Test("counters of values created by hand can have any size")
    func hostileValues() async throws {
        let recorder = ExchangeRecorder(time: time)
        _ = try await agent(.text("ok"), recorder).send(Get())
        let id = try #require(recorder.recording.activities.first?.id)
        let activities = [Duration.seconds(Int64.max), .seconds(-1), .zero].map {
            RecordedActivity(
                id: id, host: "a", date: Date(), duration: $0, bytesSent: .max, bytesReceived: .max)
        }
        let recording = Recording(activities: activities)
        #expect(recording.metrics.hosts["a"]?.requests == 3 && recording.metrics.hosts["a"]?.percentile(100) != nil)
        #expect(recording.waterfallPage().html.contains("3 activities"))
    }
}

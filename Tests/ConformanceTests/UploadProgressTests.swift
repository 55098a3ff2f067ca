import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization
import Testing

@Suite("The progress of uploads", .endsInTime, .leakChecked) struct UploadProgressTests {
    private static let size = 900_000

    enum Body: CaseIterable, Sendable {
        case data, known, unknown

        var value: RequestBody {
            let (data, size) = (Data(repeating: 0x61, count: UploadProgressTests.size), UploadProgressTests.size)
            switch self {
            case .data: return .data(data)
            case .known: return .stream(length: Int64(size)) { Self.stream() }
            case .unknown: return .stream { Self.stream() }
            }
        }

        private static func stream() -> HTTPBody {
            let rest = Mutex(UploadProgressTests.size)
            return HTTPBody(next: {
                rest.withLock { rest in
                    let count = min(rest, 70_000)
                    rest -= count
                    return count > 0 ? Data(repeating: 0x62, count: count) : nil
                }
            })
        }
    }

    @Test(
        "bytes and fraction never decrease within a transfer and end at the total, and a redirect begins a new transfer",
        arguments: Wire.allCases, Body.allCases)
    func progress(wire: Wire, body: Body) async throws {
        let server = try TestServer { request in
            request.path == "/a" ? .redirect(to: "/b", status: 307) : .text("done")
        }
        let reported = Log<TransferProgress>()
        let agent = NetworkAgent(baseURL: server.url, transport: wire.transport)
        try await agent.send(Call<Void>(.patch, "a", body: body.value), options: CallOptions(progress: reported.add))
        let all = reported.all
        #expect(Set(all.map(\.transfer)) == [1, 2])
        for transfer in [1, 2] {
            let steps = all.filter { $0.transfer == transfer }
            #expect(steps.last?.sent == Int64(Self.size))
            #expect(steps.last?.totalToSend == Int64(Self.size))
            for (before, after) in zip(steps, steps.dropFirst()) {
                #expect(before.sent <= after.sent)
                if let first = before.fraction, let second = after.fraction { #expect(first <= second) }
            }
        }
        // The transfers are in order, and the second starts with 0 bytes sent.
        #expect(all.first { $0.transfer == 2 }?.sent == 0)
        #expect(all.map(\.transfer) == all.map(\.transfer).sorted())
    }
}

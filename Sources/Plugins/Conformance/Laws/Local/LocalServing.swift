import Errand
import ErrandEssentials

/// Cases for a transport that serves the suite's own resources.
extension LocalCases {
    typealias Serving = @Sendable ([LocalResource]) throws -> any Transport

    static func serving(_ make: @escaping Serving) -> [Draft] {
        let plain = [
            Draft(name: "each resource is returned with its own bytes and type, for each delivery") { _ in
                try await expectOwn(LocalResource.plain, make)
            },
            Draft(name: "a resource that doesn't exist is an error or a status of 400 or more") { _ in
                for index in LocalResource.plain.indices {
                    var rest = LocalResource.plain
                    let gone = rest.remove(at: index)
                    guard case .response(let came) = try await result(of: gone, rest, make), came.status < 400 else {
                        continue
                    }
                    throw ConformanceFailure(
                        expected: "an error, or a status such as 404, for \(gone.url)",
                        came: "status \(came.status) with \(came.body.count) bytes")
                }
            },
        ]
        let groups = LocalResource.groups.map { group in
            Draft(name: group.name) { _ in
                try await expectOwn(group.resources, make)
                for index in group.resources.indices { try await expectMissing(index, group.resources, make) }
            }
        }
        return plain + groups
    }

    private static func result(
        of resource: LocalResource, _ resources: [LocalResource], _ make: @escaping Serving
    ) async throws -> LocalResult {
        let bench = LocalBench(url: resource.url) { try make(resources) }
        return try await bench.alone(LocalCall(url: resource.url))
    }

    private static func expectOwn(_ resources: [LocalResource], _ make: @escaping Serving) async throws {
        let transport = try make(resources)
        for resource in resources {
            let bench = LocalBench(url: resource.url) { transport }
            for delivery in LocalCall.Delivery.allCases {
                let call = LocalCall(url: resource.url, delivery: delivery)
                let came = try await bench.play(call, on: transport)
                guard case .response(let received) = came, 200..<300 ~= received.status else {
                    if resource.mayBeMissing { continue }
                    throw ConformanceFailure(expected: "a response, for \(call)", came: "\(came)")
                }
                if received.body != resource.body {
                    let other = resources.first { $0.body == received.body }
                    throw ConformanceFailure(
                        expected: "the \(resource.body.count) bytes of \(resource.url)",
                        came: other.map { "the body of \($0.url)" } ?? "\(received.body.count) other bytes")
                }
                let type = received.headers[.contentType] ?? resource.contentType
                if !resource.accepts(type: type) {
                    throw ConformanceFailure(
                        expected: "the type \(resource.contentType), an unknown type, or none, for \(resource.url)",
                        came: type)
                }
            }
        }
    }

    /// Serves all resources except one, and requests the one that is missing.
    private static func expectMissing(
        _ index: Int, _ resources: [LocalResource], _ make: @escaping Serving
    ) async throws {
        var rest = resources
        let gone = rest.remove(at: index)
        guard case .response(let came) = try await result(of: gone, rest, make), 200..<300 ~= came.status,
            let other = rest.first(where: { $0.body == came.body })
        else { return }
        throw ConformanceFailure(
            expected: "an error, or a status such as 404, for \(gone.url), which doesn't exist",
            came: "the body of \(other.url)")
    }
}

public import Errand
import ErrandDigests
import ErrandEssentials
import ErrandTransfers

/// Sends the body of every ``UploadRequest``: attempt after attempt, each from where the server is, until it has all of it.
///
/// ```swift
/// let options = UploadOptions(directory: directory)
/// let agent = NetworkAgent(baseURL: "https://example.com", transport: .system, filters: [.uploads(options)])
/// ```
///
/// An ``UploadRequest`` brings the filter with it. Install it on an agent to set options for all uploads, such as the
/// directory of their records, or to choose its position among the agent's filters. Of several in one call the outermost
/// does the work.
///
/// Filters before it see one call, filters after it each request of the upload. The uploads and downloads of one process
/// share half of the file descriptors that it may open; further ones wait. Throws `TransferError`, and the errors of the
/// filters after it and of the transport. It runs off the caller's actor and blocks a thread of the pool while the disk is
/// busy.
public struct ResumableUploads: Filter {
    /// The options of requests that have none of their own.
    public var options: UploadOptions

    /// Makes a filter with options for all uploads.
    public init(_ options: UploadOptions = UploadOptions()) { self.options = options }

    /// ``FilterTraits/unique``
    public var traits: FilterTraits { .unique }

    /// Each request of an upload needs a signature of its own.
    public func orderProblem(after outer: any Filter) -> String? {
        outer.traits.contains(.signs) ? "every request repeats the signature of the first, with its time" : nil
    }

    /// A description with the protocol and the options in numbers.
    public var explanation: String {
        let segments = options.maximumSegments > 1 ? " in \(options.maximumSegments) segments" : ""
        return "uploads\(segments) that resume after failures (\(options.uploadProtocol.rawValue))"
    }

    /// Sends the body of an ``UploadRequest``; any other request passes unchanged.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        // The type alone first: a cast that fails is slow.
        guard type(of: exchange.request) is any UploadRequest.Type, let request = exchange.request as? any UploadRequest
        else {
            return try await next(exchange)
        }
        // It repeats every request that may be repeated; a retry further out passes its failures on.
        defer { exchange.declareFailureFinal() }
        do {
            let order = try UploadOrder(request, exchange, request.uploadOptions ?? options)
            return try await DescriptorBudget.shared.withDescriptors(for: order.descriptors) {
                order.report(.queued(reason: "other transfers use the files that the process may open"))
                order.meter.set(.queued)
            } _: {
                var order = order
                while true {
                    do { return try await UploadRun(order, next).run() } catch is AnotherUser where !order.beginsAnew {
                        order = order.afterAnotherUser(within: exchange.userPin)
                    }
                }
            }
        } catch var error as TransferError {
            if error.request == nil { error.request = exchange.http }
            throw error
        }
    }
}

extension Filter where Self == ResumableUploads {
    /// `filters: [.uploads]`
    public static var uploads: ResumableUploads { ResumableUploads() }

    /// `filters: [.uploads(UploadOptions(directory: folder))]`
    public static func uploads(_ options: UploadOptions) -> ResumableUploads { ResumableUploads(options) }
}

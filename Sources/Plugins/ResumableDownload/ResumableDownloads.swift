public import Errand
import ErrandEssentials
import ErrandTransfers

/// Downloads the file of every ``DownloadRequest``: in segments, attempt after attempt, until the file is complete.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: "https://example.com", transport: .curl)
/// let file = try await agent.send(GetVideo(destination: folder)).value
/// ```
///
/// A ``DownloadRequest`` brings the filter with it. Install it on an agent to set options for all downloads, or to choose its
/// position among the agent's filters. Of several in one call the outermost does the work.
///
/// Filters before it see one call, filters after it each attempt and each segment. It requests the bytes without a
/// content coding (`Accept-Encoding: identity`) and the server's digest. The downloads of one process share half of the
/// file descriptors that it may open; further downloads wait. Throws `TransferError`, and the errors of the filters
/// after it and of the transport. It runs off the caller's actor and blocks a thread of the pool while the disk is
/// busy.
public struct ResumableDownloads: Filter {
    /// The options of requests that have none of their own.
    public var options: DownloadOptions

    /// Makes a filter with options for all downloads.
    public init(_ options: DownloadOptions = DownloadOptions()) { self.options = options }

    /// ``FilterTraits/unique``
    public var traits: FilterTraits { .unique }

    /// Each attempt and each segment of a download needs a signature of its own. Other filters may stand before this
    /// one: a cache passes downloads, and other requests pass this filter.
    public func orderProblem(after outer: any Filter) -> String? {
        outer.traits.contains(.signs) ? "every attempt repeats the signature of the first, with its time" : nil
    }

    /// A description with the options in numbers.
    public var explanation: String {
        let segments = options.maximumSegments > 1 ? " in \(options.maximumSegments) segments" : ""
        return "downloads to a file\(segments), resumed after failures"
    }

    /// Downloads the file of a ``DownloadRequest``; any other request passes unchanged.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        // The type alone first: a cast that fails is slow.
        guard type(of: exchange.request) is any DownloadRequest.Type,
            let request = exchange.request as? any DownloadRequest
        else {
            return try await next(exchange)
        }
        // It repeats every request that may be repeated; a retry further out passes its failures on.
        defer { exchange.declareFailureFinal() }
        do {
            let order = try DownloadOrder(request, exchange, request.downloadOptions ?? options)
            return try await DescriptorBudget.shared.withDescriptors(for: 2 + order.segments) {
                order.report(.queued(reason: "other downloads use the files that the process may open"), .queued)
            } _: {
                let run = DownloadRun(order, try await order.open(), next)
                return try await run.run()
            }
        } catch var error as TransferError {
            if error.request == nil { error.request = exchange.http }
            throw error
        }
    }
}

extension Filter where Self == ResumableDownloads {
    /// `filters: [.downloads]`
    public static var downloads: ResumableDownloads { ResumableDownloads() }

    /// `filters: [.downloads(DownloadOptions(maximumSegments: 4))]`
    public static func downloads(_ options: DownloadOptions) -> ResumableDownloads { ResumableDownloads(options) }
}

/// A started activity with its task.
@usableFromInline struct RunningActivity: Sendable {
    let activity: Activity
    let task: Task<Void, Never>
    @usableFromInline let result: ActivityResult
    /// Whether the activity ended before the start returned.
    @usableFromInline let isDone: Bool

    /// Waits for did-stop. Cancelling the awaiting task cancels the activity.
    @usableFromInline func joined() async {
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            activity.cancel(.task)
        }
    }
}

/** Whether the calling thread is being recorded. */
export function isRecording(): boolean

// How every tour reaches the server under test: its address is the first argument; "attempts=N" may follow.

export const endpoint = process.argv[2];
export const settings = {
  endpoint,
  region: "us-east-1",
  credentials: { accessKeyId: "test", secretAccessKey: "test" },
  maxAttempts: process.argv[3] ? Number(process.argv[3].split("=")[1]) : 1,
};
export const unique = (name) => `${name}-${process.pid}-${Date.now()}`;
